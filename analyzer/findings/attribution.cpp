#include "analyzer/findings/attribution.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/words.hpp"
#include "analyzer/findings/idle_ledger.hpp"
#include "analyzer/findings/owner_sweep.hpp"
#include "analyzer/findings/wide.hpp"

namespace traceweir::findings {
namespace {

using metrics::DeviceView;
using metrics::RankView;
using timeline::Timeline;
using timeline::Work;
using timeline::WorkKind;
using timeline::WorkSource;

constexpr Word<IdleCause> cause_words[] = {{IdleCause::input, "input"},
                                           {IdleCause::sync, "sync"},
                                           {IdleCause::launch, "launch"},
                                           {IdleCause::dependency, "dependency"},
                                           {IdleCause::unknown, "unknown"}};

constexpr Word<TermKind> term_words[] = {{TermKind::idle, "idle"},
                                         {TermKind::compute, "compute"},
                                         {TermKind::graph, "graph"},
                                         {TermKind::exposed_comm, "exposed_comm"},
                                         {TermKind::exposed_memory, "exposed_memory"}};

/// Which class of work hides which: known kernels, opaque graphs, communication, copies. Source: metrics, section 3.
std::uint64_t class_rank(WorkKind kind) {
  constexpr WorkKind order[] = {WorkKind::compute, WorkKind::graph, WorkKind::comm, WorkKind::memory};
  return static_cast<std::uint64_t>(std::find(std::begin(order), std::end(order), kind) - std::begin(order));
}

std::string_view direction_name(const Work& work) {
  return work.source == WorkSource::memset ? "memset" : timeline::word(work.direction);
}

std::int64_t message_bytes(const Timeline& timeline, const Work& work) {
  return work.message == timeline::none ? 0 : timeline.messages[work.message].bytes;
}

TermKind term_kind_of(WorkKind kind) {
  constexpr TermKind kinds[] = {TermKind::compute, TermKind::exposed_comm, TermKind::exposed_memory, TermKind::graph};
  return kinds[static_cast<std::size_t>(kind)];
}

/// Works with one key are of one term. Cheaper than a Term, since there is one look-up per piece.
std::uint64_t key_of(const Work& work) {
  const auto in = [](auto kind, std::uint64_t low) { return (static_cast<std::uint64_t>(kind) << 56U) | low; };
  switch (work.kind) {
    case WorkKind::compute:
      return in(work.kind, static_cast<std::uint64_t>(work.name));
    case WorkKind::graph:
      return in(work.kind, 0);
    case WorkKind::comm:
      return in(work.kind, (static_cast<std::uint64_t>(work.collective) << 32U) | work.message);
    case WorkKind::memory:
      return in(work.kind,
                (static_cast<std::uint64_t>(work.source) << 8U) | static_cast<std::uint64_t>(work.direction));
  }
  TRACEWEIR_ASSERT(!"every kind of work has a term");
}

/// Time owned by works of one term, and one of them.
struct Owned {
  std::uint32_t work;
  Wide sum = 0;
};

/// The term that time of `work` belongs to, without a length.
Term term_of(const Timeline& timeline, const Work& work) {
  Term term{.kind = term_kind_of(work.kind), .name = {}};
  switch (work.kind) {
    case WorkKind::compute:
      term.name = timeline.name(work.name);
      break;
    case WorkKind::graph:
      break;
    case WorkKind::comm:
      term.collective = work.collective;
      term.bytes = message_bytes(timeline, work);
      break;
    case WorkKind::memory:
      term.name = direction_name(work);
      break;
  }
  return term;
}

auto identity_of(const Term& term) { return std::tie(term.kind, term.cause, term.collective, term.bytes, term.name); }

struct SameTermOrder {
  bool operator()(const Term& a, const Term& b) const { return identity_of(a) < identity_of(b); }
};
using Sums = std::map<Term, Wide, SameTermOrder>;

/// Indices of Timeline::work per device, without empty spans, in the order of the timeline.
using WorkOfDevice = std::vector<std::vector<std::uint32_t>>;

WorkOfDevice work_by_device(const Timeline& timeline) {
  WorkOfDevice work(timeline.devices.size());
  for (std::size_t i = 0; i < timeline.work.size(); ++i)
    if (!timeline.work[i].span().empty())
      work[static_cast<std::size_t>(timeline.work[i].device)].push_back(static_cast<std::uint32_t>(i));
  return work;
}

/// The part of `span` inside `window`.
Interval cut(Interval span, Interval window) {
  return {std::max(span.begin, window.begin), std::min(span.end, window.end)};
}

/// Calls `visit(Piece)` for every instant of the window at which the device worked, with the work that owns it.
template <typename Visit>
void for_each_owned(const Timeline& timeline, const std::vector<std::uint32_t>& indices, Interval window, Visit visit) {
  auto at = indices.begin();
  const auto next = [&]() -> std::optional<Claim> {
    for (; at != indices.end(); ++at) {
      const Work& work = timeline.work[*at];
      const Interval part = cut(work.span(), window);
      if (part.empty()) continue;
      // The timeline's order is (begin, stream, row): the owner rule inside a class.
      const std::uint32_t i = *at++;
      return Claim{part, (class_rank(work.kind) << 32U) | i, i};
    }
    return std::nullopt;
  };
  sweep_owners(next, visit);
}

/// Of the works that begin where the one at `first` does, the one launched first; of those without a known launch the
/// first, where none is known.
const Work* launched_first(const Timeline& timeline, const std::vector<std::uint32_t>& indices, std::size_t first) {
  const Work* chosen = &timeline.work[indices[first]];
  for (std::size_t i = first + 1; i < indices.size(); ++i) {
    const Work& work = timeline.work[indices[i]];
    if (work.begin != timeline.work[indices[first]].begin) break;
    if (work.call == timeline::none) continue;
    if (chosen->call == timeline::none || timeline.calls[work.call].begin < timeline.calls[chosen->call].begin)
      chosen = &work;
  }
  return chosen;
}

/// Calls `visit` for every gap of the device that has a part in the window.
template <typename Visit>
void for_each_gap(const Timeline& timeline, const std::vector<std::uint32_t>& indices, Interval window, Visit visit) {
  Nanos reach = Nanos::min();
  const auto close = [&](Nanos end, std::size_t next) {
    const Interval gap{reach, end};
    const Interval counted = cut(gap, window);
    if (counted.empty()) return;
    visit(Gap{gap, counted, next < indices.size() ? launched_first(timeline, indices, next) : nullptr});
  };
  for (std::size_t i = 0; i < indices.size() && reach < window.end; ++i) {
    const Work& work = timeline.work[indices[i]];
    if (reach < work.begin) close(work.begin, i);
    reach = std::max(reach, work.end);
  }
  if (reach < window.end) close(Nanos::max(), indices.size());
}

/// What one device contributes, for the check against the unions that the metrics are made of.
struct ClassTotals {
  Nanos by_kind[5] = {};
  Nanos& operator[](TermKind kind) { return by_kind[static_cast<std::size_t>(kind)]; }
};

void check(ClassTotals totals, const metrics::DeviceTimes& times) {
  TRACEWEIR_ASSERT(totals[TermKind::compute] == times.compute);
  TRACEWEIR_ASSERT(totals[TermKind::graph] == times.graph);
  TRACEWEIR_ASSERT(totals[TermKind::exposed_comm] == times.exposed_comm);
  TRACEWEIR_ASSERT(totals[TermKind::exposed_memory] == times.exposed_memory);
  TRACEWEIR_ASSERT(totals[TermKind::idle] == times.idle);
}

/// One pass over the devices of a rank.
class Attributor {
 public:
  explicit Attributor(const RankView& view) : view_(view), timeline_(*view.timeline), ledger_(view) {}

  Attribution run() {
    const WorkOfDevice work = work_by_device(timeline_);
    for (const DeviceView& device : view_.devices) add(device, work[static_cast<std::size_t>(device.device)]);
    out_.breakdown = breakdown();
    return std::move(out_);
  }

 private:
  void add(const DeviceView& device, const std::vector<std::uint32_t>& indices) {
    const Interval window = view_.window->span;
    ClassTotals totals;
    for_each_owned(timeline_, indices, window, [&](const Piece& piece) {
      const Work& work = timeline_.work[piece.owner];
      totals[term_kind_of(work.kind)] += piece.span.length();
      owned_.try_emplace(key_of(work), Owned{piece.owner}).first->second.sum += piece.span.length().count();
    });
    for_each_gap(timeline_, indices, window, [&](const Gap& gap) {
      totals[TermKind::idle] += gap.counted.length();
      ledger_.add(gap);
    });
    check(totals, device.times);
    out_.idle.push_back({device.times.device, ledger_.take_causes()});
  }

  std::vector<Term> breakdown() {
    for (const auto& [key, owned] : owned_) sums_[term_of(timeline_, timeline_.work[owned.work])] += owned.sum;
    for (const auto& [key, sum] : ledger_.sums())
      sums_[{.kind = TermKind::idle, .name = ledger_.phase_name(key.second), .cause = key.first}] += sum;
    Wide total = 0;
    std::vector<Term> terms;
    for (const auto& [term, sum] : sums_) {
      total += sum;
      terms.push_back(term);
      terms.back().length = saturated(sum);
    }
    TRACEWEIR_ASSERT(total == Wide{view_.window->span.length().count()} * static_cast<Wide>(view_.devices.size()));
    std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
      return a.kind != b.kind ? a.kind < b.kind : a.length > b.length;
    });
    return terms;
  }

  const RankView& view_;
  const Timeline& timeline_;
  IdleLedger ledger_;
  std::unordered_map<std::uint64_t, Owned> owned_;
  Sums sums_;
  Attribution out_;
};

}  // namespace

std::string_view word(IdleCause cause) { return word_of(cause_words, cause); }
std::optional<IdleCause> idle_cause_of(std::string_view text) { return value_of(cause_words, text); }
std::string_view word(TermKind kind) { return word_of(term_words, kind); }
std::optional<TermKind> term_kind_of(std::string_view text) { return value_of(term_words, text); }

Attribution attribute(const RankView& view) {
  if (!view.window) return {};
  return Attributor(view).run();
}

}  // namespace traceweir::findings
