// For: the jobs that the tests of this layer play, by name and by chance.
// Not for: the jobs of the demo.
#pragma once

#include <rapidcheck.h>

#include "tools/make_trace/job.hpp"

namespace traceweir::differential {

struct NamedJob {
  const char* name;
  make_trace::Job job;
};

/// A job with one thing changed.
template <typename Change>
make_trace::Job job_with(Change change) {
  make_trace::Job job;
  change(job);
  return job;
}

inline std::vector<NamedJob> named_jobs() {
  using make_trace::HostMemory;
  using make_trace::Job;
  return {
      {"healthy", {}},
      {"another seed", job_with([](Job& job) { job.seed = 977; })},
      {"no noise: equal times everywhere", job_with([](Job& job) { job.noise_percent = 0; })},
      {"much noise", job_with([](Job& job) { job.noise_percent = 60; })},
      {"stalled loader", job_with([](Job& job) { job.loader_stall = 15'000'000; })},
      {"slow network: most communication exposed", job_with([](Job& job) { job.allreduce_factor = 12; })},
      {"slow kernels", job_with([](Job& job) { job.kernel_factor = 1.7; })},
      {"synchronisations in the forward pass", job_with([](Job& job) { job.extra_syncs = 6; })},
      {"pageable copies", job_with([](Job& job) { job.host_memory = HostMemory::pageable; })},
      {"one rank: no group to talk to", job_with([](Job& job) { job.ranks = 1; })},
      {"four ranks that wait for each other", job_with([](Job& job) {
         job.ranks = 4;
         job.noise_percent = 30;
       })},
      {"three steps: none is skipped", job_with([](Job& job) { job.steps = 3; })},
      {"two steps: the window is the span", job_with([](Job& job) { job.steps = 2; })},
      {"launch bound: small kernels", job_with([](Job& job) { job.kernel_factor = 0.005; })},
  };
}

/// Any small job. Shape: every field that shapes events varies.
inline make_trace::Job any_job() {
  make_trace::Job job;
  job.steps = *rc::gen::inRange(1, 7);
  job.ranks = *rc::gen::inRange(1, 4);
  job.seed = *rc::gen::arbitrary<std::uint32_t>();
  job.noise_percent = *rc::gen::inRange(0, 80);
  job.loader_stall = *rc::gen::inRange<std::int64_t>(0, 30'000'000);
  job.kernel_factor = *rc::gen::inRange(1, 300) / 100.0;
  job.allreduce_factor = *rc::gen::inRange(1, 900) / 100.0;
  job.extra_syncs = *rc::gen::inRange(0, 4);
  job.host_memory = *rc::gen::element(make_trace::HostMemory::pinned, make_trace::HostMemory::pageable);
  job.forward_kernels = *rc::gen::inRange(1, 8);
  job.backward_kernels = *rc::gen::inRange(1, 8);
  job.optimizer_kernels = *rc::gen::inRange(1, 3);
  job.buckets = *rc::gen::inRange(1, 5);
  return job;
}

}  // namespace traceweir::differential
