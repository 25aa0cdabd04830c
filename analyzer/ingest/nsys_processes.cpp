#include "analyzer/ingest/nsys_processes.hpp"

#include <fmt/format.h>

namespace traceweir::ingest::nsys {
namespace {

// One export is of one machine. Eight GPUs with a few processes each is already unusual.
constexpr std::size_t processes_max = 1024;

}  // namespace

timeline::NameId Process::name(StringIndex index, const Strings& strings) {
  const auto known = names.find(index);
  if (known != names.end()) return known->second;
  return names.emplace(index, builder.name(strings.text(index))).first->second;
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

}  // namespace traceweir::ingest::nsys
