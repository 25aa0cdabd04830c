#include "tools/make_trace/write_kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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

/// What lies between the parts of an event.
struct Spacing {
  std::string_view open, before_time, before_args, open_args, close_args, close;
};
constexpr Spacing plain_spacing = {"{", ", ", ", ", "{", "}", "}"};
constexpr Spacing profiler_spacing = {"{\n    ", ",\n    ", ",\n    ", "{\n      ", "\n    }", "\n  }"};

/// Writes events. Texts that it is given are JSON already, or need no escapes.
class EventWriter {
 public:
  EventWriter(std::ofstream& out, KinetoStyle style)
      : out_(out), spacing_(style == KinetoStyle::plain ? plain_spacing : profiler_spacing) {}
  ~EventWriter() { flush(); }
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// A complete event. `place`: `"pid": 1, "tid": 2`; `args`: `"stream":7,"bytes":4`.
  void complete(std::string_view category, std::string_view name, const std::string& place, Ns begin, Ns end,
                std::string_view args) {
    const Spacing& in = spacing_;
    add(R"({}{}"ph": "X", "cat": "{}", "name": "{}", {}{}"ts": {}, "dur": {}{}"args": {}{}{}{})", separator(), in.open,
        category, name, place, in.before_time, microseconds(clock_origin + begin), microseconds(end - begin),
        in.before_args, in.open_args, args, in.close_args, in.close);
  }

  /// Start and end of the arrow from a launching call to its work.
  void arrow(char phase, std::int64_t id, const std::string& place, Ns at) {
    add(R"({}{}"ph": "{}", "id": {}, {}, "ts": {}{}"cat": "ac2g", "name": "ac2g"{}{})", separator(), spacing_.open,
        phase, id, place, microseconds(clock_origin + at), spacing_.before_time, phase == 'f' ? R"(, "bp": "e")" : "",
        spacing_.close);
  }

  /// The name of a process.
  void process_name(int pid, std::string_view name) {
    add(R"({}{{"name": "process_name", "ph": "M", "ts": {}, "pid": {}, "tid": 0, "args": {{"name": "{}"}}}})",
        separator(), microseconds(clock_origin), pid, name);
  }

 private:
  std::string_view separator() { return std::exchange(first_, false) ? "\n  " : ",\n  "; }

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    constexpr std::size_t piece = std::size_t{1} << 20U;
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    if (buffer_.size() >= piece) flush();
  }

  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::ofstream& out_;
  const Spacing& spacing_;
  fmt::memory_buffer buffer_;
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
    case RangeKind::op:
      break;
  }
  return std::string(range.name);
}

std::string collective_args(const Job& job, const Work& work) {
  std::string ranks;
  for (int i = 0; i < job.ranks; ++i) ranks += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  return fmt::format(
      R"(,"Collective name":"allreduce","In msg nelems":{0},"Out msg nelems":{0},"Group size":{1},"dtype":"Float",)"
      R"("In split size":"[]","Out split size":"[]","Process Group Name":"0",)"
      R"("Process Group Description":"default_pg","Process Group Ranks":"[{2}]","Seq":{3})",
      work.elements, job.ranks, ranks, work.sequence);
}

std::string kernel_args(const Job& job, const Work& work) {
  constexpr std::string_view shape =
      R"(,"queued":0,"registers per thread":96,"shared memory":48336,"grid":[132,1,1],"block":[256,1,1])";
  return std::string(shape) + (work.kind == WorkKind::allreduce ? collective_args(job, work) : "");
}

std::string copy_name(const Work& work) {
  const std::string_view host = work.host_memory == HostMemory::pinned ? "Pinned" : "Pageable";
  return work.kind == WorkKind::copy_h2d ? fmt::format("Memcpy HtoD ({} -> Device)", host)
                                         : fmt::format("Memcpy DtoH (Device -> {})", host);
}

std::string copy_args(const Work& work) {
  const double speed = static_cast<double>(work.bytes) / static_cast<double>(work.end - work.begin);
  return fmt::format(R"-(,"bytes":{},"memory bandwidth (GB/s)":{})-", work.bytes,
                     std::round(speed * hundredths) / hundredths);
}

void write_work(const Job& job, const Rank& rank, const Work& work, EventWriter& events) {
  const std::string place = gpu_place(rank, work);
  const std::string args = fmt::format(R"("External id":{0},"device":{1},"context":1,"stream":{2},"correlation":{0})",
                                       work.correlation, rank.device, work.stream);
  if (work.kind == WorkKind::compute || work.kind == WorkKind::allreduce)
    events.complete("kernel", work.name, place, work.begin, work.end, args + kernel_args(job, work));
  else
    events.complete("gpu_memcpy", copy_name(work), place, work.begin, work.end, args + copy_args(work));
  events.arrow('f', work.correlation, place, work.begin);
}

void write_ranges(const Rank& rank, EventWriter& events) {
  std::int64_t id = first_range_id;
  for (const Range& range : rank.ranges) {
    const std::string args =
        fmt::format(R"("External id":{0},"Record function id":{0},"Ev Idx":{1})", id, id - first_range_id);
    ++id;
    events.complete(range.kind == RangeKind::op ? "cpu_op" : "user_annotation", range_name(range),
                    host_place(rank, range.thread), range.begin, range.end, args);
  }
}

void write_call(const Rank& rank, const Call& call, char arrow, EventWriter& events) {
  const std::string place = host_place(rank, call.thread);
  events.complete("cuda_runtime", call.name, place, call.begin, call.end,
                  fmt::format(R"("External id":{0},"cbid":211,"correlation":{0})", call.correlation));
  events.arrow(arrow, call.correlation, place, call.begin);
}

/// Kind after kind.
void write_by_kind(const Job& job, const Rank& rank, EventWriter& events) {
  for (const Call& call : rank.calls) write_call(rank, call, 's', events);
  for (const Work& work : rank.work) write_work(job, rank, work, events);
}

/// As the driver reports it: a call, and some calls later its work. An arrow of a call that put nothing on the GPU ends
/// in itself.
void write_interleaved(const Job& job, const Rank& rank, EventWriter& events) {
  std::unordered_set<std::int64_t> launching;
  for (const Work& work : rank.work) launching.insert(work.correlation);
  auto work = rank.work.begin();
  for (const Call& call : rank.calls) {
    for (; work != rank.work.end() && work->begin < call.begin; ++work) write_work(job, rank, *work, events);
    write_call(rank, call, launching.count(call.correlation) != 0 ? 's' : 'f', events);
  }
  for (; work != rank.work.end(); ++work) write_work(job, rank, *work, events);
}

/// The profiler repeats steps on the GPU's side, around the work that they launched. They are no steps.
void write_gpu_annotations(const Rank& rank, EventWriter& events) {
  struct Around {
    const Work* first;
    Ns end;
  };
  std::unordered_map<int, Around> steps;
  for (const Work& work : rank.work) {
    if (work.kind == WorkKind::allreduce) continue;
    Around& around = steps.try_emplace(work.step, Around{&work, 0}).first->second;
    around.end = std::max(around.end, work.end);
  }
  for (const Range& range : rank.ranges) {
    if (range.kind != RangeKind::step) continue;
    const auto found = steps.find(range.number - first_step_number);
    if (found == steps.end()) continue;
    const auto& [first, end] = found->second;
    events.complete("gpu_user_annotation", range_name(range), gpu_place(rank, *first), first->begin - 1, end + 1,
                    fmt::format(R"("External id":{})", range.number));
  }
}

}  // namespace

void write_kineto(const Job& job, const Rank& rank, const std::filesystem::path& file, KinetoStyle style) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out) throw std::runtime_error(fmt::format("{}: cannot be written", file.string()));

  const std::string head = header(job, rank).dump();
  out << head.substr(0, head.size() - 1) << ",\n\"traceEvents\": [";
  {
    EventWriter events(out, style);
    write_ranges(rank, events);
    (style == KinetoStyle::plain ? write_by_kind : write_interleaved)(job, rank, events);
    write_gpu_annotations(rank, events);
    events.process_name(rank.pid, "python3");
  }
  out << "\n]}\n";
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{}: cannot be written to its end", file.string()));
}

}  // namespace traceweir::make_trace
