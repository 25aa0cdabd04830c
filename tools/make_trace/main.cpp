// make_trace: writes a trace of a modelled training job and says, as one line of JSON, what a correct analysis of it
// must find.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tools/make_trace/facts.hpp"
#include "tools/make_trace/gzip.hpp"
#include "tools/make_trace/simulate.hpp"
#include "tools/make_trace/write_kineto.hpp"
#include "tools/make_trace/write_nsys.hpp"

namespace {

using namespace traceweir::make_trace;

enum class Format { kineto, nsys };

/// What the command line says.
struct Request {
  std::filesystem::path file;
  Format format = Format::kineto;
  Job job;
  int rank = 0;
  double stall_ms = 0;
  bool all_ranks = false;
  bool worked_example = false;
  bool gzip = false;
  bool pageable = false;
  bool extra_sync = false;
  bool as_profiler = false;
  bool shuffled = false;
  int kernels_per_step = 0;
  std::uint64_t bytes = 0;
};

constexpr int extra_syncs_per_step = 6;
constexpr double ns_per_ms = 1e6;
constexpr int steps_max = 100'000;
// What real traces have of the host per kernel. Source: public traces of 2021 to 2024.
constexpr int profiler_ops = 4;
constexpr int export_ops = 1;
constexpr int profiler_quiet_calls = 1;

constexpr const char* examples = R"(
Examples:
  make_trace good.json                                  a healthy job, as torch.profiler writes it
  make_trace --format nsys good.sqlite                  the same job, as nsys exports it: the same metrics
  make_trace --stall-loader 5 slow.json                 5 ms more of data loading in every step
  make_trace --format nsys --all-ranks --ranks 4 job.sqlite
  make_trace --as-profiler --kernels-per-step 1000 --size 500MB large.json
  make_trace --worked-example example.json              5 ms of kernels, 15 ms of nothing, 2 ms of copy
Standard output: one line of JSON with the exact truth (window, compute, communication, copies, idle, counts).)";

void add_options(CLI::App& app, Request& request) {
  const std::map<std::string, Format> formats{{"kineto", Format::kineto}, {"nsys", Format::nsys}};
  app.add_option("file", request.file, "the file to write")->required();
  app.add_option("--format", request.format, "kineto (default) or nsys")->transform(CLI::CheckedTransformer(formats));
  app.add_option("--steps", request.job.steps, "training steps")
      ->check(CLI::Range(1, steps_max))
      ->capture_default_str();
  app.add_option("--ranks", request.job.ranks, "ranks of the job, one GPU each")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  app.add_option("--rank", request.rank, "the rank that is written")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--all-ranks", request.all_ranks, "nsys only: all ranks in one file, one process each");
  app.add_option("--seed", request.job.seed, "of the noise")->capture_default_str();
  app.add_option("--noise", request.job.noise_percent, "durations vary by at most this many percent")
      ->check(CLI::Range(0.0, 90.0))
      ->capture_default_str();
  app.add_option("--stall-loader", request.stall_ms, "milliseconds more of data loading in every step")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--slow-allreduce", request.job.allreduce_factor, "factor on the time of all-reduces")
      ->check(CLI::Range(0.001, 1e4));
  app.add_option("--slow-kernel", request.job.kernel_factor, "factor on the time of compute kernels")
      ->check(CLI::Range(0.001, 1e4));
  app.add_option("--slow-one-kernel", request.job.slow_kernel_factor, "factor on the time of flash_fwd_kernel alone")
      ->check(CLI::Range(0.001, 1e4));
  app.add_option("--slow-rank", request.job.slow_rank, "the rank whose kernels take longer")
      ->check(CLI::Range(0, 1'023));
  app.add_option("--slow-rank-factor", request.job.slow_rank_factor, "factor on them")->check(CLI::Range(0.001, 1e4));
  app.add_option("--extra-kernels", request.job.extra_kernels, "launches per step of a kernel that is not there else")
      ->check(CLI::Range(0, 1'000));
  app.add_option("--buckets", request.job.buckets, "all-reduces per step, among which the gradients are divided")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_option("--host-time", request.job.python_time, "nanoseconds of the host between two calls")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  app.add_flag("--extra-sync", request.extra_sync, "synchronise the device inside the forward pass");
  app.add_flag("--pageable", request.pageable, "copy batches from pageable memory");
  app.add_option("--kernels-per-step", request.kernels_per_step, "compute kernels per step (default: 34)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--as-profiler", request.as_profiler,
               "operators and calls around the launches as in real traces, Kineto in libkineto's layout");
  app.add_option("--size", request.bytes, "Kineto only: as many steps as make about this many bytes (50MB, 2GB)")
      ->transform(CLI::AsSizeValue(true));
  app.add_flag("--shuffle", request.shuffled, "rows out of the order of time, by some thousand places");
  app.add_flag("--gzip", request.gzip, "compress the file");
  app.add_flag("--worked-example", request.worked_example, "the worked example of docs/metrics.md instead of the job");
  app.footer(examples);
}

Job job_of(const Request& request) {
  Job job = request.job;
  job.loader_stall = static_cast<Ns>(request.stall_ms * ns_per_ms);
  if (request.pageable) job.host_memory = HostMemory::pageable;
  if (request.extra_sync) job.extra_syncs = extra_syncs_per_step;
  if (request.as_profiler) {
    job.ops_per_launch = request.format == Format::kineto ? profiler_ops : export_ops;
    job.quiet_per_launch = profiler_quiet_calls;
  }
  if (request.kernels_per_step == 0) return job;
  const int parts = job.forward_kernels + job.backward_kernels + job.optimizer_kernels;
  job.forward_kernels = request.kernels_per_step * job.forward_kernels / parts;
  job.optimizer_kernels = request.kernels_per_step * job.optimizer_kernels / parts;
  job.backward_kernels = request.kernels_per_step - job.forward_kernels - job.optimizer_kernels;
  return job;
}

Trace trace_of(const Request& request, const Job& job) {
  if (request.worked_example) return worked_example(job.steps);
  Trace trace = simulate(job);
  if (request.all_ranks) return trace;
  Rank only = std::move(trace.ranks.at(static_cast<std::size_t>(request.rank)));
  trace.ranks.clear();
  trace.ranks.push_back(std::move(only));
  return trace;
}

KinetoStyle style_of(const Request& request) {
  return request.as_profiler ? KinetoStyle::profiler : KinetoStyle::plain;
}

/// How many steps make a file of the wanted size, by writing a short one.
int steps_for(const Request& request, Job job) {
  constexpr int tried = 4;
  job.steps = tried;
  const Trace trace = trace_of(request, job);
  write_kineto(trace.job, trace.ranks.front(), request.file, style_of(request));
  const std::uint64_t step = std::filesystem::file_size(request.file) / tried;
  return static_cast<int>(std::clamp<std::uint64_t>(request.bytes / step, 1, steps_max));
}

int run(const Request& request) {
  Job job = job_of(request);
  if (request.bytes != 0) job.steps = steps_for(request, job);
  Trace trace = trace_of(request, job);
  if (request.as_profiler) order_by_time(trace);
  if (request.shuffled) shuffle(trace);
  if (request.format == Format::nsys)
    write_nsys(trace, request.file);
  else
    write_kineto(trace.job, trace.ranks.front(), request.file, style_of(request));
  if (request.gzip) gzip_in_place(request.file);
  std::cout << facts_json(trace, request.file.filename().string()) << '\n';
  return EXIT_SUCCESS;
}

/// Throws std::invalid_argument where options do not go together.
void check(const Request& request) {
  if (request.rank >= request.job.ranks) throw std::invalid_argument("--rank: must be below --ranks");
  if (request.all_ranks && request.format == Format::kineto)
    throw std::invalid_argument("--all-ranks: a Kineto file holds one rank");
  if (request.bytes != 0 && request.format == Format::nsys)
    throw std::invalid_argument("--size: only of Kineto files; say --steps");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Writes a trace of a modelled data-parallel training job, with exact ground truth.", "make_trace"};
  Request request;
  add_options(app, request);
  CLI11_PARSE(app, argc, argv);
  try {
    check(request);
    return run(request);
  } catch (const std::exception& error) {
    std::cerr << "make_trace: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
