#include "analyzer/ingest/nsys_processes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace traceweir::ingest::nsys {
namespace {

// One export is of one machine. Eight GPUs with a few processes each is already unusual.
constexpr std::size_t processes_max = 1024;

// Correlations count up, so that their low bits tell a million of them apart.
constexpr std::size_t launch_bits = std::size_t{1} << 20;
std::size_t low_bits(std::int64_t correlation) { return static_cast<std::size_t>(correlation) % launch_bits; }

}  // namespace

timeline::NameId Process::name(StringIndex index, const Strings& strings) {
  const auto known = names.find(index);
  if (known != names.end()) return known->second;
  return names.emplace(index, builder.name(strings.text(index))).first->second;
}

void Process::await_launch(std::int64_t correlation) {
  may_launch.resize(launch_bits);
  may_launch[low_bits(correlation)] = true;
  launches.try_emplace(correlation);
}

void Process::remember_launch(std::int64_t correlation, std::int64_t thread, Interval span) {
  // Nearly every call launches something else, and the table is far larger than the caches.
  if (may_launch.empty() || !may_launch[low_bits(correlation)]) return;
  const auto wanted = launches.find(correlation);
  if (wanted == launches.end() || span.end < span.begin) return;
  auto& launch = wanted->second;
  const bool better =
      !launch || span.begin < launch->span.begin || (span.begin == launch->span.begin && span.end > launch->span.end);
  if (better) launch = NcclLaunch{thread, span};
}

Result<Process*> Processes::make(std::int64_t pid) {
  if (Process* known = find(pid)) return known;
  if (by_pid_.size() == processes_max)
    return fail(ErrorCode::malformed_trace, fmt::format("more than {} processes have GPU work", processes_max));
  Process& made = by_pid_[distinguished ? pid : 0];
  made.pid = pid;
  return &made;
}

Process* Processes::find(std::int64_t pid) {
  const std::int64_t id = distinguished ? pid : 0;
  if (last_ != nullptr && last_pid_ == id) return last_;
  const auto found = by_pid_.find(id);
  if (found == by_pid_.end()) return nullptr;
  last_pid_ = id;
  last_ = &found->second;
  return last_;
}

void Processes::note_dropped(Process& process, std::span<const std::string_view> work_tables) const {
  for (const auto& [table, count] : dropped_) {
    const bool work = std::find(work_tables.begin(), work_tables.end(), table) != work_tables.end();
    const std::string why = fmt::format("rows of {} with a value of the wrong type", table);
    if (work)
      process.builder.drop_work(why, count);
    else
      process.builder.note(FindingCode::invalid_text, why, count);
  }
}

std::vector<Process*> Processes::ranks() {
  std::vector<Process*> ranks;
  for (auto& [pid, process] : by_pid_)
    if (process.builder.has_work()) ranks.push_back(&process);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const Process* a, const Process* b) { return a->ordinal_min() < b->ordinal_min(); });
  return ranks;
}

}  // namespace traceweir::ingest::nsys
