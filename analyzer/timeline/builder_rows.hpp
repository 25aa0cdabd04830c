// For: what a TimelineBuilder has collected, and the passes that turn it into a Timeline. Only builder*.cpp include it.
// Not for: readers; they call the builder (builder.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/timeline/builder.hpp"
#include "analyzer/timeline/name_table.hpp"
#include "analyzer/timeline/range_names.hpp"

namespace traceweir::timeline {

struct MessageOrder {
  static auto key(const Message& m) { return std::tie(m.bytes, m.group_size, m.dtype, m.group, m.sequence); }
  bool operator()(const Message& a, const Message& b) const { return key(a) < key(b); }
};

/// Makes room for one more row. A column of many is given far more addresses than it may need, which cost nothing until
/// they are written: moving its rows to larger memory again and again would touch twice as much.
template <typename Row>
void make_room(std::vector<Row>& rows) {
  constexpr std::size_t some = std::size_t{1} << 12;
  constexpr std::size_t many = std::size_t{1} << 16;
  constexpr std::size_t roomy = std::size_t{1} << 20;
  if (rows.size() < rows.capacity() || rows.size() < some) return;
  rows.reserve(rows.size() < many ? many : std::max(roomy, 2 * rows.size()));
}

/// What the name of a call tells, asked once per spelling.
struct CallKind {
  NameId name{};
  bool blocking = false;
  bool allocates = false;
};

/// The samples of one counter on one device. Every `stride`-th of those added is kept.
struct Series {
  std::string name;
  DeviceIndex device;
  std::vector<CounterSample> samples;
  std::size_t seen = 0;
};

struct TimelineBuilder::Rows {
  Timeline out;  ///< messages and oddities grow here; the rest is filled by finish()
  NameTable names;
  NameMap<NameId> unclean_names;  ///< spellings of the trace that are no clean text
  RangeNames range_names;
  NameMap<CallKind> call_kinds;
  const NameMap<CallKind>::value_type* last_call_kind = nullptr;
  std::map<Message, std::uint32_t, MessageOrder> messages;
  std::map<std::int64_t, DeviceIndex> devices_by_ordinal;
  NameMap<DeviceIndex> devices_by_uuid;
  std::unordered_map<std::int64_t, ThreadIndex> threads;
  std::pair<std::int64_t, ThreadIndex> last_thread;  ///< once there is one
  std::vector<Work> work;                            ///< Work::row is the index at which it was added
  std::vector<std::int64_t> correlations;            ///< of work, by Work::row
  std::vector<bool> awaited;                         ///< by low bits of correlations of work; empty: all may be
  std::vector<Call> calls;                           ///< before it is known which of them launched anything
  std::vector<std::int64_t> call_correlations;       ///< of calls, by index
  std::vector<Range> ranges;
  std::vector<Series> series;
  std::map<std::pair<std::string, DeviceIndex>, std::uint32_t> series_by_name;
  std::size_t sample_count = 0;
  std::size_t stride = 1;                       ///< of all series
  std::map<DeviceIndex, DeviceIndex> moved_to;  ///< devices with work: from the index while adding to the final one

  void note(FindingCode code, std::string_view example, std::int64_t count);
  /// Whether a row with this span is kept; counts it where it is not.
  bool accepts(Interval span);
  NameId name(std::string_view text);
  [[nodiscard]] std::size_t awaited_bit(std::int64_t correlation) const {
    return static_cast<std::size_t>(correlation) & (awaited.size() - 1);
  }
  /// Whether a call may have launched work. false: it has not.
  [[nodiscard]] bool may_launch(std::int64_t correlation) const {
    return correlation > 0 && (awaited.empty() || awaited[awaited_bit(correlation)]);
  }
  ThreadIndex thread(std::int64_t id);
  const CallKind& call_kind(std::string_view name);

  // The passes of finish(), in this order.
  void sort_work();
  void drop_duplicates();
  void keep_devices_with_work();
  void sort_calls();
  void join_calls();
  void keep_calls(const std::vector<bool>& launches);
  void count_orphans();
  void sort_ranges();
  void bring_threads_together();
  void take_counters();
  void thin_series();
};

}  // namespace traceweir::timeline
