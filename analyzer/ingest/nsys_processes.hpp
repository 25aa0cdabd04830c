// For: what is collected of each process of an export until its Timeline is made.
// Not for: reading rows; the readers (nsys_work, nsys_host, nsys_facts) fill it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/nsys_strings.hpp"
#include "analyzer/timeline/builder.hpp"

namespace traceweir::ingest::nsys {

/// Which function of NCCL a range is of.
enum class NcclFunction : std::uint8_t {
  collective,
  group_start,
  group_end,
  framework,  ///< a collective of the framework's, which calls NCCL inside
};

/// A range of the NCCL library on a host thread, and what it calls.
struct NcclRange {
  std::int64_t thread;
  Interval span;
  NcclFunction function = NcclFunction::collective;
  timeline::Collective kind = timeline::Collective::other;  ///< of a collective
  std::uint64_t communicator = 0;
  std::int64_t bytes = 0;  ///< of one call, as its payload says; 0: unknown
};

/// A host call that launched a kernel of NCCL's.
struct NcclLaunch {
  std::int64_t thread;
  Interval span;
};

/// One process with GPU work: a rank.
struct Process {
  std::int64_t pid = 0;
  timeline::TimelineBuilder builder;
  std::map<std::int64_t, timeline::DeviceIndex> devices;                 ///< by ordinal
  std::unordered_map<StringIndex, timeline::NameId> names;               ///< of strings that it used
  std::vector<timeline::WorkRow> collectives;                            ///< communication kernels, added last
  std::unordered_map<std::int64_t, std::optional<NcclLaunch>> launches;  ///< of them, by correlation
  std::vector<bool> may_launch;                                          ///< by the low bits of those correlations
  std::vector<NcclRange> nccl_ranges;
  std::map<std::uint64_t, std::int64_t> communicators;  ///< ranks of each, as far as payloads tell
  [[nodiscard]] std::int64_t ordinal_min() const { return devices.empty() ? 0 : devices.begin()->first; }
  std::int64_t kernels = 0;
  std::int64_t unnamed_kernels = 0;  ///< of them, without a name anywhere
  bool saw_graph_rows = false;
  bool saw_node_rows = false;

  timeline::NameId name(StringIndex index, const Strings& strings);
  /// From now on the call with this correlation is remembered.
  void await_launch(std::int64_t correlation);
  /// Keeps the call where `launches` waits for one: of several with one correlation the earliest, then the longest.
  void remember_launch(std::int64_t correlation, std::int64_t thread, Interval span);
};

/// All ranks of the file.
class Processes {
 public:
  /// The process with this id, made where it is new.
  /// Errors: malformed_trace (more processes with GPU work than any job has).
  Result<Process*> make(std::int64_t pid);
  /// The process with this id, if it did GPU work.
  Process* find(std::int64_t pid);

  /// Whether ids of processes mean anything in this file: its work says which process it is of.
  bool distinguished = true;

  /// Counts a row of `table` that has a value of the wrong type and was left out.
  void drop(std::string_view table) { ++dropped_[table]; }
  /// Tells of those rows in the findings of `process`; those of `work_tables` are lost GPU work.
  void note_dropped(Process& process, std::span<const std::string_view> work_tables) const;

  /// The processes with work, by (smallest device ordinal, pid).
  std::vector<Process*> ranks();

  [[nodiscard]] bool empty() const { return by_pid_.empty(); }
  auto begin() { return by_pid_.begin(); }
  auto end() { return by_pid_.end(); }

 private:
  std::map<std::int64_t, Process> by_pid_;
  std::map<std::string_view, std::int64_t> dropped_;
  std::int64_t last_pid_ = -1;
  Process* last_ = nullptr;
};

}  // namespace traceweir::ingest::nsys
