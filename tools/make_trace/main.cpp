// make_trace: writes a trace of a modelled training job and says, as one line of JSON, what a correct analysis of it
// must find.
#include <CLI/CLI.hpp>
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
};

constexpr int extra_syncs_per_step = 6;
constexpr double ns_per_ms = 1e6;

constexpr const char* examples = R"(
Examples:
  make_trace good.json                                  a healthy job, as torch.profiler writes it
  make_trace --format nsys good.sqlite                  the same job, as nsys exports it: the same metrics
  make_trace --stall-loader 5 slow.json                 5 ms more of data loading in every step
  make_trace --format nsys --all-ranks --ranks 4 job.sqlite
  make_trace --worked-example example.json              5 ms of kernels, 15 ms of nothing, 2 ms of copy
Standard output: one line of JSON with the exact truth (window, compute, communication, copies, idle, counts).)";

void add_options(CLI::App& app, Request& request) {
  const std::map<std::string, Format> formats{{"kineto", Format::kineto}, {"nsys", Format::nsys}};
  app.add_option("file", request.file, "the file to write")->required();
  app.add_option("--format", request.format, "kineto (default) or nsys")->transform(CLI::CheckedTransformer(formats));
  app.add_option("--steps", request.job.steps, "training steps")->check(CLI::Range(1, 100'000))->capture_default_str();
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
  app.add_flag("--gzip", request.gzip, "compress the file");
  app.add_flag("--worked-example", request.worked_example, "the worked example of docs/metrics.md instead of the job");
  app.footer(examples);
}

Trace trace_of(const Request& request) {
  if (request.worked_example) return worked_example(request.job.steps);
  Job job = request.job;
  job.loader_stall = static_cast<Ns>(request.stall_ms * ns_per_ms);
  if (request.pageable) job.host_memory = HostMemory::pageable;
  if (request.extra_sync) job.extra_syncs = extra_syncs_per_step;
  Trace trace = simulate(job);
  if (request.all_ranks) return trace;
  Rank only = std::move(trace.ranks.at(static_cast<std::size_t>(request.rank)));
  trace.ranks.clear();
  trace.ranks.push_back(std::move(only));
  return trace;
}

int run(const Request& request) {
  const Trace trace = trace_of(request);
  if (request.format == Format::nsys)
    write_nsys(trace, request.file);
  else
    write_kineto(trace.job, trace.ranks.front(), request.file);
  if (request.gzip) gzip_in_place(request.file);
  std::cout << facts_json(trace, request.file.filename().string()) << '\n';
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Writes a trace of a modelled data-parallel training job, with exact ground truth.", "make_trace"};
  Request request;
  add_options(app, request);
  CLI11_PARSE(app, argc, argv);
  try {
    if (request.rank >= request.job.ranks) throw std::invalid_argument("--rank: must be below --ranks");
    if (request.all_ranks && request.format == Format::kineto)
      throw std::invalid_argument("--all-ranks: a Kineto file holds one rank");
    return run(request);
  } catch (const std::exception& error) {
    std::cerr << "make_trace: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
