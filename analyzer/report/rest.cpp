#include "analyzer/report/rest.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/findings/wide.hpp"
#include "analyzer/report/size.hpp"

namespace traceweir::report {
namespace {

using findings::saturated;
using findings::Term;
using findings::TermKind;
using findings::Wide;
using metrics::CollectiveRow;
using metrics::KernelRow;
using metrics::PhaseRow;

Nanos sum_of(Nanos a, Nanos b) { return saturated(Wide{a.count()} + Wide{b.count()}); }

/// Counts are as large as whoever wrote the file says.
void add_count(std::int64_t& sum, std::int64_t count) { sum = saturated(Wide{sum} + Wide{count}).count(); }

void add_to(KernelRow& rest, const KernelRow& row) {
  add_count(rest.count, row.count);
  rest.total = sum_of(rest.total, row.total);
  rest.share += row.share;
}

void add_to(PhaseRow& rest, const PhaseRow& row) {
  add_count(rest.count, row.count);
  rest.host = sum_of(rest.host, row.host);
  rest.gpu = sum_of(rest.gpu, row.gpu);
}

/// Keeps the first `limit` rows and adds up the others in one named `rest`, which is the last and does not count.
template <typename Row>
void cut_named(std::vector<Row>& rows, std::size_t limit, Row rest) {
  const bool has_rest = !rows.empty() && rows.back().name == rest_word;
  const std::size_t named = rows.size() - (has_rest ? 1 : 0);
  if (named <= limit) return;
  rest.name = rest_word;
  for (std::size_t i = limit; i < rows.size(); ++i) add_to(rest, rows[i]);
  rows.resize(limit, rest);
  rows.push_back(std::move(rest));
}

/// Terms that may be added up: there is no end to kernel names, phases and message sizes.
bool can_be_cut(const Term& term) {
  switch (term.kind) {
    case TermKind::idle:
    case TermKind::compute:
      return term.name != rest_word;
    case TermKind::exposed_comm:
      return term.bytes != 0;
    case TermKind::graph:
    case TermKind::exposed_memory:
      return false;
  }
  return false;
}

bool longer(const Term& a, const Term& b) { return a.length > b.length; }

/// Terms of one kind by length, the rest (which may be longer) in its place among them.
void sort_terms(std::vector<Term>& terms) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term& a, const Term& b) { return a.kind != b.kind ? a.kind < b.kind : longer(a, b); });
}

void cut_terms(std::vector<Term>& terms, std::size_t limit) {
  const auto cuttable = static_cast<std::size_t>(std::count_if(terms.begin(), terms.end(), can_be_cut));
  if (cuttable <= limit) return;
  // The longest come first; the order among equals is that of the list, so that cutting is repeatable.
  const auto middle = std::stable_partition(terms.begin(), terms.end(), can_be_cut);
  std::stable_sort(terms.begin(), middle, longer);
  const auto first_cut = terms.begin() + static_cast<std::ptrdiff_t>(limit);
  std::vector<Term> kept(terms.begin(), first_cut);
  kept.insert(kept.end(), middle, terms.end());
  for (auto term = first_cut; term != middle; ++term) {
    Term rest = *term;
    if (term->kind == TermKind::exposed_comm)
      rest.bytes = 0;
    else
      rest.name = rest_word;
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Term& k) {
      return k.kind == rest.kind && k.name == rest.name && k.cause == rest.cause && k.collective == rest.collective &&
             k.bytes == rest.bytes;
    });
    if (same == kept.end())
      kept.push_back(std::move(rest));
    else
      same->length = sum_of(same->length, rest.length);
  }
  terms = std::move(kept);
  sort_terms(terms);
}

void add_to(CollectiveRow& rest, const CollectiveRow& row) {
  add_count(rest.count, row.count);
  rest.total = sum_of(rest.total, row.total);
  rest.min = std::min(rest.min, row.min);
  rest.max = std::max(rest.max, row.max);
  if (rest.group_size != row.group_size) rest.group_size = 0;
  if (rest.dtype != row.dtype) rest.dtype.clear();
}

void cut_collectives(std::vector<CollectiveRow>& rows, std::size_t limit) {
  const auto is_sized = [](const CollectiveRow& row) { return row.bytes != 0; };
  const auto sized = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_sized));
  if (sized <= limit) return;
  const auto middle = std::stable_partition(rows.begin(), rows.end(), is_sized);
  std::stable_sort(rows.begin(), middle,
                   [](const CollectiveRow& a, const CollectiveRow& b) { return a.total > b.total; });
  const auto first_cut = rows.begin() + static_cast<std::ptrdiff_t>(limit);
  std::vector<CollectiveRow> kept(rows.begin(), first_cut);
  std::vector<CollectiveRow> others(middle, rows.end());
  others.insert(others.end(), first_cut, middle);
  std::map<timeline::Collective, CollectiveRow> unsized;
  for (const CollectiveRow& row : others) {
    const auto [rest, added] = unsized.try_emplace(row.kind, row);
    rest->second.bytes = 0;
    if (!added) add_to(rest->second, row);
  }
  for (auto& [kind, row] : unsized) kept.push_back(std::move(row));
  rows = std::move(kept);
}

void thin_steps(std::vector<metrics::StepValues>& steps, std::size_t limit) {
  if (steps.size() <= limit) return;
  std::vector<metrics::StepValues> kept;
  for (std::size_t i = 0; i < limit; ++i) kept.push_back(std::move(steps[i * steps.size() / limit]));
  steps = std::move(kept);
}

std::size_t smaller(std::size_t limit, std::size_t least) { return std::min(limit, std::max(least, limit * 3 / 4)); }

/// The next step down: every list by a quarter, kernels below kernels_kept_min only when the others are gone.
ListLimits smaller(const ListLimits& limits) {
  constexpr std::size_t little = 3;  // where a quarter is nothing any more
  const bool others_gone = std::max({limits.terms, limits.collectives, limits.phases, limits.steps}) <= little;
  return {.kernels = smaller(limits.kernels, others_gone ? 0 : kernels_kept_min),
          .terms = smaller(limits.terms, 0),
          .collectives = smaller(limits.collectives, 0),
          .phases = smaller(limits.phases, 0),
          .steps = smaller(limits.steps, 0)};
}

bool at_the_end(const ListLimits& limits) { return limits.kernels == 0; }

/// Where the cutting starts: full lists up to 8 ranks, beyond that in proportion, since all share one budget.
ListLimits first_limits(std::size_t ranks) {
  constexpr std::size_t ranks_in_full = 8;
  ListLimits limits;
  if (ranks <= ranks_in_full) return limits;
  const auto share = [ranks](std::size_t limit, std::size_t least) {
    return std::max(least, limit * ranks_in_full / ranks);
  };
  constexpr std::size_t least = 8;
  return {.kernels = share(limits.kernels, kernels_kept_min),
          .terms = share(limits.terms, least),
          .collectives = share(limits.collectives, least),
          .phases = share(limits.phases, least),
          .steps = share(limits.steps, least)};
}

}  // namespace

void cut_lists(RankReport& rank, const ListLimits& limits) {
  const KernelRow no_kernels{{}, timeline::WorkKind::compute, 0, Nanos{0}, 0};
  cut_named(rank.kernels, limits.kernels, no_kernels);
  cut_named(rank.phases, limits.phases, PhaseRow{{}, 0, Nanos{0}, Nanos{0}});
  cut_terms(rank.breakdown, limits.terms);
  cut_collectives(rank.collectives, limits.collectives);
  thin_steps(rank.steps, limits.steps);
  if (rank.devices.size() > devices_listed_max) rank.devices.resize(devices_listed_max);
  if (rank.environment.gpus.size() > devices_listed_max) rank.environment.gpus.resize(devices_listed_max);
}

void cut_matched(std::vector<metrics::MatchedRow>& rows, std::size_t limit) {
  const auto middle = std::stable_partition(rows.begin(), rows.end(), [](const auto& row) { return row.bytes != 0; });
  if (static_cast<std::size_t>(middle - rows.begin()) <= limit) return;
  std::stable_sort(rows.begin(), middle, [](const auto& a, const auto& b) { return a.total > b.total; });
  std::vector<metrics::MatchedRow> kept(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(limit));
  std::map<timeline::Collective, metrics::MatchedRow> unsized;
  for (std::size_t i = limit; i < rows.size(); ++i) {
    const auto [rest, added] = unsized.try_emplace(rows[i].kind, rows[i]);
    rest->second.bytes = 0;
    if (added) continue;
    add_count(rest->second.matched, rows[i].matched);
    add_count(rest->second.calls, rows[i].calls);
    rest->second.transfer = sum_of(rest->second.transfer, rows[i].transfer);
    rest->second.total = sum_of(rest->second.total, rows[i].total);
  }
  for (const auto& [kind, row] : unsized) kept.push_back(row);
  rows = std::move(kept);
}

void fit(Report& report) {
  ListLimits limits = first_limits(report.ranks.size());
  cut_matched(report.collectives, limits.collectives);
  for (RankReport& rank : report.ranks) cut_lists(rank, limits);
  const std::size_t bytes_max = report_bytes_for(report.ranks.size());
  while (json_bytes_at_most(report) > bytes_max && to_json(report).size() > bytes_max && !at_the_end(limits)) {
    limits = smaller(limits);
    for (RankReport& rank : report.ranks) cut_lists(rank, limits);
  }
}

}  // namespace traceweir::report
