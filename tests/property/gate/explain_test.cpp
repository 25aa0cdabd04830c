// Any two reports: contributions add up, a run and itself do not differ, swapped sides turn the signs.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>

#include "gate/diff.hpp"
#include "gate/explain.hpp"
#include "tests/unit/gate/explained_reports.hpp"

namespace traceweir::gate {
namespace {

using namespace cases;

std::int64_t any_length() { return *rc::gen::inRange<std::int64_t>(1, 2'000'000'000); }

report::Report any_report() {
  std::vector<Term> terms;
  const int count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("n{}", *rc::gen::inRange(0, 12));
    const auto cause = static_cast<IdleCause>(*rc::gen::inRange(0, 5));
    const auto kind = *rc::gen::element(timeline::Collective::allreduce, timeline::Collective::allgather);
    const Term any[] = {idle(cause, name, any_length()), compute(name, any_length()),
                        exposed(kind, *rc::gen::inRange(0, 5) * 1024, any_length()),
                        copies(*rc::gen::element<std::string>("h2d", "d2h"), any_length())};
    terms.push_back(any[*rc::gen::inRange<std::size_t>(0, std::size(any))]);
  }
  if (*rc::gen::arbitrary<bool>()) terms.push_back(compute("rest", any_length()));
  report::Report report = run_of_terms(terms, *rc::gen::inRange<std::int64_t>(1, 20));
  double total = 0, calls = 0;
  std::map<std::int64_t, int> sizes;
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) sizes[*rc::gen::inRange(0, 4)] = i;
  for (const auto& [size, n] : sizes) {
    const std::int64_t length = any_length();
    report.ranks.front().collectives.push_back(
        {timeline::Collective::allreduce, size * 4096, n, Nanos{length}, Nanos{1}, Nanos{length}, 2, ""});
    if (*rc::gen::arbitrary<bool>())
      report.collectives.push_back(
          {timeline::Collective::allreduce, size * 4096, n, Nanos{length / 2}, n, Nanos{length}});
    total += static_cast<double>(length);
    calls += n;
  }
  set_metric(report, "allreduce.time_mean", total / calls);
  return report;
}

double tolerance(const Unit& unit) { return unit == Unit::ratio ? 1e-12 : 1; }

}  // namespace

TEST_CASE("explain: contributions add up, at most ten of them") {
  CHECK(rc::check([] {
    const Diff diff = diff_of(any_report(), any_report());
    RC_ASSERT(diff.explanations.size() >= 5U);
    for (const Explanation& explanation : diff.explanations) {
      double sum = 0;
      for (const Contribution& row : explanation.contributions) sum += row.delta;
      RC_ASSERT(std::abs(sum - explanation.delta) <= tolerance(explanation.unit));
      RC_ASSERT(explanation.contributions.size() <= contributions_max);
      RC_ASSERT(!explanation.sentence.empty());
    }
  }));
}

TEST_CASE("explain: a run and itself do not differ") {
  CHECK(rc::check([] {
    const report::Report report = any_report();
    const Diff diff = diff_of(report, report, 2.5);
    for (const Explanation& explanation : diff.explanations) {
      RC_ASSERT(explanation.delta == 0);
      RC_ASSERT(explanation.contributions.empty());
    }
    for (const MetricChange& change : diff.metrics) RC_ASSERT(change.base == change.head);
    RC_ASSERT(diff.facts.empty());
    RC_ASSERT(diff.environment.empty());
    RC_ASSERT(!diff.workload_changed);
    RC_ASSERT(diff.cost->delta_per_hour == 0.0);
  }));
}

TEST_CASE("explain: swapped sides turn the signs") {
  CHECK(rc::check([] {
    const report::Report base = any_report(), head = any_report();
    const Diff there = diff_of(base, head), back = diff_of(head, base);
    RC_ASSERT(there.explanations.size() == back.explanations.size());
    for (std::size_t i = 0; i < there.explanations.size(); ++i) {
      const Explanation &a = there.explanations[i], &b = back.explanations[i];
      RC_ASSERT(a.delta == -b.delta);
      RC_ASSERT(a.contributions.size() == b.contributions.size());
      std::map<std::string, double> sums;
      for (const Contribution& row : a.contributions)
        sums[row.name + row.phase + std::string(word(row.cause))] += row.delta;
      for (const Contribution& row : b.contributions)
        sums[row.name + row.phase + std::string(word(row.cause))] += row.delta;
      for (const auto& [name, sum] : sums) RC_ASSERT(std::abs(sum) <= tolerance(a.unit));
    }
    RC_ASSERT(there.workload_changed.has_value() == back.workload_changed.has_value());
  }));
}

}  // namespace traceweir::gate
