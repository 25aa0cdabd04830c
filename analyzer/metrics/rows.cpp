#include "analyzer/metrics/rows.hpp"

#include <algorithm>
#include <tuple>

#include "analyzer/metrics/occupancy.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Work;
using timeline::WorkKind;
using timeline::WorkSource;

/// Calls `take` with all work that starts in the window.
template <typename Take>
void for_started(const RankView& view, Take take) {
  const Interval window = view.window->span;
  for (const Work& work : view.timeline->work) {
    if (work.begin >= window.end) break;
    if (work.begin >= window.begin) take(work);
  }
}

struct Tally {
  std::int64_t count = 0;
  Sum total;
};

/// A communication call, reduced to what its row needs.
struct SizedCall {
  timeline::Collective kind;
  std::int64_t bytes;
  std::int64_t group_size;
  std::string_view dtype;
  std::int64_t duration;

  [[nodiscard]] auto key() const { return std::tie(kind, bytes, group_size, dtype); }
};

SizedCall sized_call(const timeline::Timeline& timeline, const Work& work) {
  SizedCall call{work.collective, 0, 0, {}, (work.end - work.begin).count()};
  if (work.message == timeline::none) return call;
  const timeline::Message& message = timeline.messages[work.message];
  call.bytes = message.bytes;
  call.group_size = message.group_size;
  call.dtype = message.dtype;
  return call;
}

CollectiveRow row_of(std::span<const SizedCall> calls) {
  const SizedCall& first = calls.front();
  CollectiveRow row{first.kind,
                    first.bytes,
                    static_cast<std::int64_t>(calls.size()),
                    {},
                    Nanos{first.duration},
                    Nanos{first.duration},
                    first.group_size,
                    std::string(first.dtype)};
  Sum total;
  for (const SizedCall& call : calls) {
    total.add(call.duration);
    row.min = std::min(row.min, Nanos{call.duration});
    row.max = std::max(row.max, Nanos{call.duration});
  }
  row.total = Nanos{total.clamped()};
  return row;
}

}  // namespace

std::vector<KernelRow> kernel_rows(const RankView& view) {
  if (!view.window) return {};
  constexpr std::size_t kinds = 4;
  // Ranges may have a million names; those of kernels come before most of them, or are few.
  std::vector<Tally> tallies;
  for_started(view, [&tallies](const Work& work) {
    if (work.source != WorkSource::kernel && work.source != WorkSource::graph_launch) return;
    const auto first = static_cast<std::size_t>(work.name) * kinds;
    if (first >= tallies.size()) tallies.resize(first + kinds);
    Tally& tally = tallies[first + static_cast<std::size_t>(work.kind)];
    ++tally.count;
    tally.total.add((work.end - work.begin).count());
  });
  std::vector<KernelRow> rows;
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    const Tally& tally = tallies[i];
    if (tally.count == 0) continue;
    rows.push_back({view.timeline->names[i / kinds], static_cast<WorkKind>(i % kinds), tally.count,
                    Nanos{tally.total.clamped()}, mean_share(view, tally.total)});
  }
  std::sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return std::tie(b.total, a.name, a.kind) < std::tie(a.total, b.name, b.kind);
  });
  return rows;
}

std::vector<CollectiveRow> collective_rows(const RankView& view) {
  if (!view.window) return {};
  std::vector<SizedCall> calls;
  for_started(view, [&](const Work& work) {
    if (work.kind == WorkKind::comm) calls.push_back(sized_call(*view.timeline, work));
  });
  std::sort(calls.begin(), calls.end(), [](const SizedCall& a, const SizedCall& b) { return a.key() < b.key(); });
  std::vector<CollectiveRow> rows;
  for (auto first = calls.begin(); first != calls.end();) {
    const auto last =
        std::find_if(first, calls.end(), [first](const SizedCall& call) { return call.key() != first->key(); });
    rows.push_back(row_of({first, last}));
    first = last;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CollectiveRow& a, const CollectiveRow& b) { return a.total > b.total; });
  return rows;
}

}  // namespace traceweir::metrics
