#include "tools/make_trace/write_kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace traceweir::make_trace {
namespace {

using nlohmann::ordered_json;

// The profiler's clock is relative to the base time and already large: 16 digits before the point's three.
constexpr Ns clock_origin = 4'212'936'055'590'430'000;
constexpr Ns base_time = 1'719'853'884'000'000'000;
// Ids of ranges and of calls share a number space in the profiler.
constexpr std::int64_t first_range_id = 1'000'000'000;
constexpr double hundredths = 100;

std::string microseconds(Ns time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

/// Writes events one a line, so that a person can read and cut the file.
class EventWriter {
 public:
  explicit EventWriter(std::ofstream& out) : out_(out) {}

  /// A complete event. `place`: `"pid": 1, "tid": 2`.
  void complete(std::string_view category, std::string_view name, const std::string& place, Ns begin, Ns end,
                const ordered_json& args) {
    out_ << (first_ ? "\n  " : ",\n  ")
         << fmt::format(R"({{"ph": "X", "cat": "{}", "name": {}, {}, "ts": {}, "dur": {}, "args": {}}})", category,
                        ordered_json(name).dump(), place, microseconds(clock_origin + begin), microseconds(end - begin),
                        args.dump());
    first_ = false;
  }

  /// Start and end of the arrow from a launching call to its work.
  void arrow(char phase, std::int64_t id, const std::string& place, Ns at) {
    out_ << fmt::format(",\n  {{\"ph\": \"{}\", \"id\": {}, {}, \"ts\": {}, \"cat\": \"ac2g\", \"name\": \"ac2g\"{}}}",
                        phase, id, place, microseconds(clock_origin + at), phase == 'f' ? R"(, "bp": "e")" : "");
  }

  /// The name of a process.
  void process_name(int pid, std::string_view name) {
    out_ << fmt::format(
        ",\n  {{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": {}, \"pid\": {}, \"tid\": 0, \"args\": "
        "{{\"name\": \"{}\"}}}}",
        microseconds(clock_origin), pid, name);
  }

 private:
  std::ofstream& out_;
  bool first_ = true;
};

std::string host_place(const Rank& rank, int thread) {
  return fmt::format(R"("pid": {}, "tid": {})", rank.pid, rank.threads[static_cast<std::size_t>(thread)]);
}

std::string gpu_place(const Rank& rank, const Work& work) {
  return fmt::format(R"("pid": {}, "tid": {})", rank.device, work.stream);
}

ordered_json header(const Job& job, const Rank& rank) {
  ordered_json ranks = ordered_json::array();
  ordered_json devices = ordered_json::array();
  for (int i = 0; i < job.ranks; ++i) {
    ranks.push_back(i);
    devices.push_back({{"id", i},
                       {"name", "NVIDIA H100 80GB HBM3"},
                       {"totalGlobalMem", 85'045'084'160},
                       {"computeMajor", 9},
                       {"computeMinor", 0},
                       {"numSms", 132}});
  }
  return {{"schemaVersion", 1},
          {"deviceProperties", devices},
          {"cuda_runtime_version", 12040},
          {"cuda_driver_version", 12040},
          {"distributedInfo",
           {{"backend", "nccl"},
            {"rank", rank.rank},
            {"world_size", job.ranks},
            {"pg_count", 1},
            {"pg_config", {{{"pg_name", "0"}, {"pg_desc", "default_pg"}, {"pg_size", job.ranks}, {"ranks", ranks}}}},
            {"nccl_version", "2.20.5"}}},
          {"displayTimeUnit", "ms"},
          {"baseTimeNanoseconds", base_time}};
}

std::string range_name(const Range& range) {
  switch (range.kind) {
    case RangeKind::step:
      return fmt::format("ProfilerStep#{}", range.number);
    case RangeKind::collective:
      return "nccl:all_reduce";
    case RangeKind::phase:
      break;
  }
  return std::string(range.name);
}

ordered_json kernel_args(const Job& job, const Work& work, ordered_json args) {
  args["queued"] = 0;
  args["registers per thread"] = 96;
  args["shared memory"] = 48'336;
  args["grid"] = {132, 1, 1};
  args["block"] = {256, 1, 1};
  if (work.kind != WorkKind::allreduce) return args;
  std::string ranks;
  for (int i = 0; i < job.ranks; ++i) ranks += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  args["Collective name"] = "allreduce";
  args["In msg nelems"] = work.elements;
  args["Out msg nelems"] = work.elements;
  args["Group size"] = job.ranks;
  args["dtype"] = "Float";
  args["In split size"] = "[]";
  args["Out split size"] = "[]";
  args["Process Group Name"] = "0";
  args["Process Group Description"] = "default_pg";
  args["Process Group Ranks"] = fmt::format("[{}]", ranks);
  args["Seq"] = work.sequence;
  return args;
}

std::string copy_name(const Work& work) {
  const std::string_view host = work.host_memory == HostMemory::pinned ? "Pinned" : "Pageable";
  return work.kind == WorkKind::copy_h2d ? fmt::format("Memcpy HtoD ({} -> Device)", host)
                                         : fmt::format("Memcpy DtoH (Device -> {})", host);
}

ordered_json copy_args(const Work& work, ordered_json args) {
  args["bytes"] = work.bytes;
  const double speed = static_cast<double>(work.bytes) / static_cast<double>(work.end - work.begin);
  args["memory bandwidth (GB/s)"] = std::round(speed * hundredths) / hundredths;
  return args;
}

void write_work(const Job& job, const Rank& rank, const Work& work, EventWriter& events) {
  const std::string place = gpu_place(rank, work);
  const ordered_json args{{"External id", work.correlation},
                          {"device", rank.device},
                          {"context", 1},
                          {"stream", work.stream},
                          {"correlation", work.correlation}};
  if (work.kind == WorkKind::compute || work.kind == WorkKind::allreduce)
    events.complete("kernel", work.name, place, work.begin, work.end, kernel_args(job, work, args));
  else
    events.complete("gpu_memcpy", copy_name(work), place, work.begin, work.end, copy_args(work, args));
  events.arrow('f', work.correlation, place, work.begin);
}

void write_ranges(const Rank& rank, EventWriter& events) {
  std::int64_t id = first_range_id;
  for (const Range& range : rank.ranges) {
    const ordered_json args{{"External id", id}, {"Record function id", id}, {"Ev Idx", id - first_range_id}};
    ++id;
    events.complete("user_annotation", range_name(range), host_place(rank, range.thread), range.begin, range.end, args);
  }
}

/// The profiler repeats steps on the GPU's side, around the work that they launched. They are no steps.
void write_gpu_annotations(const Rank& rank, EventWriter& events) {
  for (const Range& range : rank.ranges) {
    if (range.kind != RangeKind::step) continue;
    const int step = range.number - first_step_number;
    const Work* first = nullptr;
    Ns end = 0;
    for (const Work& work : rank.work) {
      if (work.step != step || work.kind == WorkKind::allreduce) continue;
      if (first == nullptr) first = &work;
      end = std::max(end, work.end);
    }
    if (first == nullptr) continue;
    events.complete("gpu_user_annotation", range_name(range), gpu_place(rank, *first), first->begin - 1, end + 1,
                    {{"External id", range.number}});
  }
}

}  // namespace

void write_kineto(const Job& job, const Rank& rank, const std::filesystem::path& file) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out) throw std::runtime_error(fmt::format("{}: cannot be written", file.string()));

  const std::string head = header(job, rank).dump();
  out << head.substr(0, head.size() - 1) << ",\n\"traceEvents\": [";
  EventWriter events(out);
  write_ranges(rank, events);
  for (const Call& call : rank.calls) {
    const std::string place = host_place(rank, call.thread);
    events.complete("cuda_runtime", call.name, place, call.begin, call.end,
                    {{"External id", call.correlation}, {"cbid", 211}, {"correlation", call.correlation}});
    events.arrow('s', call.correlation, place, call.begin);
  }
  for (const Work& work : rank.work) write_work(job, rank, work, events);
  write_gpu_annotations(rank, events);
  events.process_name(rank.pid, "python3");
  out << "\n]}\n";
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{}: cannot be written to its end", file.string()));
}

}  // namespace traceweir::make_trace
