// For: the parameters of a small data-parallel training job, of which make_trace writes traces with known truth.
// Not for: events (trace.hpp) or file formats (write_kineto.hpp, write_nsys.hpp).
#pragma once

#include <cstdint>

namespace traceweir::make_trace {

/// Units: nanoseconds on the job's own clock, which starts at 0.
using Ns = std::int64_t;

enum class HostMemory { pinned, pageable };

/// Every knob of the model. The defaults are a healthy job: about 88 % utilization, all-reduces mostly hidden behind
/// the backward pass, one `loss.item()` at the end of each step.
struct Job {
  int steps = 12;
  int ranks = 2;
  std::uint64_t seed = 1;
  double noise_percent = 2;  ///< durations vary by at most this much, evenly

  // What goes wrong.
  Ns loader_stall = 0;            ///< added to the data loading of every step
  double kernel_factor = 1;       ///< multiplies the durations of compute kernels
  double slow_kernel_factor = 1;  ///< of flash_fwd_kernel alone
  int slow_rank = -1;             ///< whose kernels take slow_rank_factor times as long; -1: none
  double slow_rank_factor = 1;
  int extra_kernels = 0;        ///< launches per forward pass of a kernel that the healthy job does not have
  double allreduce_factor = 1;  ///< multiplies the transfer times of all-reduces
  int extra_syncs = 0;          ///< device synchronisations inside each forward pass
  HostMemory host_memory = HostMemory::pinned;

  // The job itself.
  Ns loader_time = 1'200'000;
  std::int64_t batch_bytes = 12'582'912;
  std::int64_t target_bytes = 65'536;
  int forward_kernels = 12;
  int backward_kernels = 18;
  int optimizer_kernels = 4;
  int buckets = 6;  ///< all-reduces per step; each starts when its share of backward is done
  std::int64_t gradient_elements = 39'321'600;  ///< of 4 bytes, over all buckets
  Ns launch_time = 6'000;                       ///< of a launching call
  Ns python_time = 9'000;                       ///< host time between two calls
  Ns launch_latency = 4'000;                    ///< from the call's end to the earliest start on an idle GPU

  // What profilers see of the host beside the calls that launch. None of it changes what the GPU does.
  int ops_per_launch = 0;    ///< nested operators around each launch of a compute kernel
  int quiet_per_launch = 0;  ///< calls before it that put nothing on the GPU
};

}  // namespace traceweir::make_trace
