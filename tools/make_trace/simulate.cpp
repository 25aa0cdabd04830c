#include "tools/make_trace/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

#include "tools/make_trace/kernels.hpp"

namespace traceweir::make_trace {
namespace {

constexpr int compute_stream = 7;
constexpr int comm_stream = 20;
constexpr int main_thread = 0;
constexpr int autograd_thread = 1;

// Host memory decides how fast a copy is: pinned memory is read by DMA, pageable memory is staged by the host first.
constexpr double pinned_bytes_per_ns = 25;
constexpr double pageable_bytes_per_ns = 6;
// What NCCL needs for a small message, and the bus bandwidth of a large one.
constexpr Ns allreduce_latency = 20'000;
constexpr double allreduce_bytes_per_ns = 60;
constexpr Ns kernel_gap = 1'000;
constexpr Ns copy_setup = 1'500;
constexpr Ns sync_return = 6'000;

struct Api {
  std::string_view name;
  int version;  // the tail of the name in nsys
};
constexpr Api launch_kernel{"cudaLaunchKernel", 7000};
constexpr Api launch_kernel_ex{"cudaLaunchKernelExC", 11060};
constexpr Api memcpy_async{"cudaMemcpyAsync", 3020};
constexpr Api stream_synchronize{"cudaStreamSynchronize", 3020};
constexpr Api device_synchronize{"cudaDeviceSynchronize", 3020};
constexpr Api event_record{"cudaEventRecord", 3020};
constexpr Api stream_wait_event{"cudaStreamWaitEvent", 3020};
constexpr Api quiet_calls[] = {{"cudaStreamIsCapturing", 10000},
                               {"cudaStreamGetPriority", 5050},
                               {"cudaFuncGetAttributes", 3020},
                               {"cudaEventQuery", 3020}};

// Operators, outermost first, and how long before its inner one each begins and after it ends.
constexpr std::string_view op_names[] = {"aten::linear",
                                         "aten::addmm",
                                         "aten::layer_norm",
                                         "aten::add_",
                                         "autograd::engine::evaluate_function: AddmmBackward0",
                                         "AddmmBackward0",
                                         "aten::native_layer_norm",
                                         "aten::_to_copy"};
constexpr Ns op_margin = 700;

Ns scaled(Ns time, double factor) { return std::max<Ns>(1, std::llround(static_cast<double>(time) * factor)); }

/// Gradients in a bucket: the buckets differ by at most one element.
std::int64_t elements_of(const Job& job, int bucket) {
  return job.gradient_elements * (bucket + 1) / job.buckets - job.gradient_elements * bucket / job.buckets;
}

Rank rank_numbered(int number) {
  const int pid = 4100 + 13 * number;
  return {
      .rank = number, .pid = pid, .threads = {pid, pid + 7}, .device = number, .work = {}, .calls = {}, .ranges = {}};
}

/// One process and its GPU: a host that launches, and two streams that run what was launched, in order.
class Process {
 public:
  Process(const Job& job, int number)
      : job_(job), rank_(rank_numbered(number)), random_(job.seed * 1'000'003 + static_cast<std::uint64_t>(number)) {
    now_ = static_cast<Ns>(random_() % 20'000);
  }

  void load_batch(int step);
  void forward();
  void backward_share(int bucket);
  Ns launch_allreduce(int bucket);
  void finish_allreduce(Ns end);
  void optimizer();
  void read_loss();

  void begin_phase() { phase_begin_ = now_; }
  void end_phase(std::string_view name) {
    rank_.ranges.push_back({phase_begin_, now_, RangeKind::phase, name, 0, main_thread});
    now_ += job_.python_time;
  }
  void use_thread(int thread) { thread_ = thread; }
  void end_step();
  Rank take() { return std::move(rank_); }

 private:
  Ns noisy(Ns time);
  Call& call(Api api, Ns time);
  const Call& launching_call();
  void launch(const Kernel& kernel);
  void copy(WorkKind kind, std::int64_t bytes, HostMemory memory);
  void wait_for_gpu(Api api);

  const Job& job_;
  Rank rank_;
  std::mt19937_64 random_;
  Ns now_ = 0;  // of the host
  Ns compute_free_ = 0;
  Ns comm_free_ = 0;
  Ns step_begin_ = 0;
  Ns phase_begin_ = 0;
  int step_ = 0;
  int thread_ = main_thread;
  std::int64_t correlation_ = 1000;
  std::int64_t sequence_ = 0;
  int op_ = 0;
};

Ns Process::noisy(Ns time) {
  // Not std::uniform_*_distribution: its results differ between standard libraries.
  const double even = static_cast<double>(random_() >> 11U) / 9007199254740992.0;
  return scaled(time, 1 + job_.noise_percent / 100 * (2 * even - 1));
}

Call& Process::call(Api api, Ns time) {
  rank_.calls.push_back({now_, now_ + noisy(time), api.name, api.version, thread_, ++correlation_, false});
  now_ = rank_.calls.back().end + noisy(job_.python_time);
  return rank_.calls.back();
}

/// The launch of a compute kernel with what the framework does around it.
const Call& Process::launching_call() {
  const int ops = job_.ops_per_launch;
  const Ns begin = now_;
  now_ += ops * op_margin;
  for (int i = 0; i < job_.quiet_per_launch; ++i)
    call(quiet_calls[rank_.calls.size() % std::size(quiet_calls)], job_.launch_time / 6);
  const Call& launched = call(launch_kernel, job_.launch_time);
  for (int i = 0; i < ops; ++i) {
    const int number = ++op_;
    rank_.ranges.push_back({begin + i * op_margin, launched.end + (ops - i) * op_margin, RangeKind::op,
                            op_names[static_cast<std::size_t>(number) % std::size(op_names)], number, thread_});
  }
  if (ops > 0) now_ = std::max(now_, launched.end + (ops + 1) * op_margin);
  return launched;
}

void Process::launch(const Kernel& kernel) {
  const Call& launched = launching_call();
  const Ns begin = std::max(compute_free_, launched.end + job_.launch_latency);
  const double own = kernel.short_name == slow_kernel ? job_.slow_kernel_factor : 1;
  const double rank = rank_.rank == job_.slow_rank ? job_.slow_rank_factor : 1;
  const Ns end = begin + scaled(noisy(kernel.time), job_.kernel_factor * own * rank);
  rank_.work.push_back({.begin = begin,
                        .end = end,
                        .kind = WorkKind::compute,
                        .name = kernel.name,
                        .stream = compute_stream,
                        .correlation = launched.correlation,
                        .step = step_});
  compute_free_ = end + kernel_gap;
}

void Process::copy(WorkKind kind, std::int64_t bytes, HostMemory memory) {
  Call& launched = call(memcpy_async, job_.launch_time);
  const double speed = memory == HostMemory::pinned ? pinned_bytes_per_ns : pageable_bytes_per_ns;
  const Ns begin = std::max(compute_free_, launched.end + job_.launch_latency);
  const Ns end = begin + noisy(copy_setup + std::llround(static_cast<double>(bytes) / speed));
  rank_.work.push_back({.begin = begin,
                        .end = end,
                        .kind = kind,
                        .name = {},
                        .stream = compute_stream,
                        .correlation = launched.correlation,
                        .bytes = bytes,
                        .host_memory = memory,
                        .step = step_});
  compute_free_ = end + kernel_gap;
  if (memory == HostMemory::pinned) return;
  // The call returns when the pageable memory has been read.
  launched.end = end;
  now_ = end + noisy(job_.python_time);
}

void Process::wait_for_gpu(Api api) {
  const Ns begin = now_;
  Call& waiting = call(api, job_.launch_time);
  waiting.blocking = true;
  waiting.end = std::max({waiting.end, compute_free_, comm_free_}) + sync_return;
  now_ = begin + (waiting.end - waiting.begin) + noisy(job_.python_time);
}

void Process::load_batch(int step) {
  step_ = step;
  step_begin_ = now_;
  now_ += job_.python_time;
  begin_phase();
  now_ += noisy(job_.loader_time) + job_.loader_stall;
  end_phase("data_loading");
  copy(WorkKind::copy_h2d, job_.batch_bytes, job_.host_memory);
  copy(WorkKind::copy_h2d, job_.target_bytes, job_.host_memory);
}

void Process::forward() {
  int synced = 0;
  for (int i = 0; i < job_.forward_kernels; ++i) {
    launch(forward_kernels[static_cast<std::size_t>(i) % std::size(forward_kernels)]);
    const int due = job_.extra_syncs * (i + 1) / job_.forward_kernels;
    for (; synced < due; ++synced) wait_for_gpu(device_synchronize);
  }
  for (int i = 0; i < job_.extra_kernels; ++i) launch(extra_kernel);
}

void Process::backward_share(int bucket) {
  const int from = job_.backward_kernels * bucket / job_.buckets;
  const int to = job_.backward_kernels * (bucket + 1) / job_.buckets;
  for (int i = from; i < to; ++i) launch(backward_kernels[static_cast<std::size_t>(i) % std::size(backward_kernels)]);
}

/// Returns when this rank is ready; the transfer begins when the last rank is.
Ns Process::launch_allreduce(int bucket) {
  const Ns range_begin = now_;
  call(event_record, job_.launch_time / 3);
  call(stream_wait_event, job_.launch_time / 3);
  const Call& launched = call(launch_kernel_ex, job_.launch_time * 2);
  rank_.ranges.push_back({range_begin, now_, RangeKind::collective, {}, 0, thread_});
  now_ += noisy(job_.python_time);
  const Ns begin = std::max({compute_free_ + kernel_gap, comm_free_, launched.end + job_.launch_latency});
  rank_.work.push_back({.begin = begin,
                        .end = begin,
                        .kind = WorkKind::allreduce,
                        .name = allreduce_kernel.name,
                        .stream = comm_stream,
                        .correlation = launched.correlation,
                        .elements = elements_of(job_, bucket),
                        .sequence = ++sequence_,
                        .step = step_});
  return begin;
}

void Process::finish_allreduce(Ns end) {
  rank_.work.back().end = end;
  comm_free_ = end + kernel_gap;
}

void Process::optimizer() {
  call(stream_wait_event, job_.launch_time / 3);
  compute_free_ = std::max(compute_free_, comm_free_);  // the gradients of all buckets are needed
  for (int i = 0; i < job_.optimizer_kernels; ++i) launch(optimizer_kernels[0]);
}

void Process::read_loss() {
  copy(WorkKind::copy_d2h, 4, HostMemory::pageable);
  wait_for_gpu(stream_synchronize);
}

void Process::end_step() {
  rank_.ranges.push_back({step_begin_, now_, RangeKind::step, {}, first_step_number + step_, main_thread});
  now_ += noisy(job_.python_time);
}

Ns transfer_time(const Job& job, std::int64_t elements) {
  const double ratio = 2.0 * (job.ranks - 1) / job.ranks;  // of the bus bandwidth's convention
  const double time = static_cast<double>(elements * 4) * ratio / allreduce_bytes_per_ns;
  return scaled(allreduce_latency + std::llround(time), job.allreduce_factor);
}

/// All ranks leave an all-reduce together: the transfer begins when the last one has arrived.
void allreduce(const Job& job, std::span<Process> processes, int bucket, double noise) {
  Ns last = 0;
  for (Process& process : processes) last = std::max(last, process.launch_allreduce(bucket));
  const Ns transfer = scaled(transfer_time(job, elements_of(job, bucket)), noise);
  for (Process& process : processes) process.finish_allreduce(last + transfer);
}

/// Puts rows in random order within blocks of the size of a step or so.
template <typename Row>
void shuffle_near(std::vector<Row>& rows, std::mt19937_64& random) {
  constexpr std::size_t block = 4096;
  for (std::size_t begin = 0; begin < rows.size(); begin += block) {
    const std::size_t count = std::min(block, rows.size() - begin);
    // Not std::shuffle: its results differ between standard libraries.
    for (std::size_t i = count; i > 1; --i) std::swap(rows[begin + i - 1], rows[begin + random() % i]);
  }
}

}  // namespace

Trace simulate(const Job& job) {
  std::vector<Process> processes;
  for (int rank = 0; rank < job.ranks; ++rank) processes.emplace_back(job, rank);
  std::mt19937_64 network(job.seed ^ 0x6e657477U);

  for (int step = 0; step < job.steps; ++step) {
    for (Process& process : processes) {
      process.load_batch(step);
      process.begin_phase();
      process.forward();
      process.end_phase("forward");
      process.begin_phase();
      process.use_thread(autograd_thread);
    }
    for (int bucket = 0; bucket < job.buckets; ++bucket) {
      for (Process& process : processes) process.backward_share(bucket);
      const double even = static_cast<double>(network() >> 11U) / 9007199254740992.0;
      allreduce(job, processes, bucket, 1 + job.noise_percent / 100 * (2 * even - 1));
    }
    for (Process& process : processes) {
      process.use_thread(main_thread);
      process.end_phase("backward");
      process.begin_phase();
      process.optimizer();
      process.end_phase("optimizer");
      process.read_loss();
      process.end_step();
    }
  }

  Trace trace{job, {}};
  for (Process& process : processes) trace.ranks.push_back(process.take());
  return trace;
}

void order_by_time(Trace& trace) {
  const auto earlier = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  for (Rank& rank : trace.ranks) {
    std::stable_sort(rank.work.begin(), rank.work.end(), earlier);
    std::stable_sort(rank.ranges.begin(), rank.ranges.end(), earlier);
  }
}

void shuffle(Trace& trace) {
  for (Rank& rank : trace.ranks) {
    std::mt19937_64 random(trace.job.seed + static_cast<std::uint64_t>(rank.rank));
    shuffle_near(rank.work, random);
    shuffle_near(rank.calls, random);
    shuffle_near(rank.ranges, random);
  }
}

Trace worked_example(int steps) {
  constexpr Ns ms = 1'000'000;
  constexpr Ns period = 22 * ms;
  constexpr Ns call_time = 6'000;
  constexpr int kernels = 5;
  Job job;
  job.steps = steps;
  job.ranks = 1;
  Rank rank = rank_numbered(0);
  std::int64_t correlation = 1000;
  for (int step = 0; step < steps; ++step) {
    const Ns begin = step * period;
    const auto launched = [&](Api api, Ns at) {
      rank.calls.push_back({at, at + call_time, api.name, api.version, main_thread, ++correlation, false});
      return correlation;
    };
    rank.ranges.push_back({begin, begin + period, RangeKind::step, {}, first_step_number + step, main_thread});
    rank.ranges.push_back({begin + 1'000, begin + 15 * ms - 20'000, RangeKind::phase, "data_loading", 0, main_thread});
    rank.work.push_back({.begin = begin + 15 * ms,
                         .end = begin + 17 * ms,
                         .kind = WorkKind::copy_h2d,
                         .name = {},
                         .stream = compute_stream,
                         .correlation = launched(memcpy_async, begin + 15 * ms - 10'000),
                         .bytes = 50'000'000,
                         .host_memory = HostMemory::pinned,
                         .step = step});
    for (int i = 0; i < kernels; ++i)
      rank.work.push_back({.begin = begin + (17 + i) * ms,
                           .end = begin + (18 + i) * ms,
                           .kind = WorkKind::compute,
                           .name = forward_kernels[0].name,
                           .stream = compute_stream,
                           .correlation = launched(launch_kernel, begin + 15 * ms + 20'000 * i),
                           .step = step});
  }
  return {job, {std::move(rank)}};
}

}  // namespace traceweir::make_trace
