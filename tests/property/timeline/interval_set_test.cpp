#include "analyzer/timeline/interval_set.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bitset>
#include <vector>

using traceweir::Interval;
using traceweir::Nanos;
using traceweir::timeline::IntervalSet;

namespace {

// A clock so short that a set is a row of bits: what each operation must give is then obvious.
constexpr std::int64_t clock_length = 64;
using Points = std::bitset<clock_length>;

Points points_of(std::span<const Interval> spans) {
  Points points;
  for (const Interval& span : spans)
    for (std::int64_t t = 0; t < clock_length; ++t)
      if (span.contains(Nanos{t})) points.set(static_cast<std::size_t>(t));
  return points;
}

Interval any_interval() {
  const auto bound = rc::gen::inRange<std::int64_t>(0, clock_length + 1);
  return {Nanos{*bound}, Nanos{*bound}};  // may be empty, or end before it begins
}

std::vector<Interval> any_spans() {
  std::vector<Interval> spans(*rc::gen::inRange<std::size_t>(0, 24));
  for (Interval& span : spans) span = any_interval();
  return spans;
}

void has_shape(const IntervalSet& set) {
  const auto parts = set.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    RC_ASSERT(!parts[i].empty());
    if (i > 0) RC_ASSERT(parts[i - 1].end < parts[i].begin);
  }
}

void is_set_of(const IntervalSet& set, const Points& want) {
  has_shape(set);
  RC_ASSERT(points_of(set.parts()) == want);
  RC_ASSERT(set.total() == Nanos{static_cast<std::int64_t>(want.count())});
  RC_ASSERT(set.empty() == want.none());
}

}  // namespace

// Why: every metric stands on these six operations, so each is held against the definition, point by point.
TEST_CASE("IntervalSet: every operation is the one on sets of points") {
  CHECK(rc::check("operations", [] {
    const auto a_spans = any_spans();
    const auto b_spans = any_spans();
    const Interval window = any_interval();
    const IntervalSet a = IntervalSet::union_of(a_spans);
    const IntervalSet b = IntervalSet::union_of(b_spans);
    const Points pa = points_of(a_spans);
    const Points pb = points_of(b_spans);
    const Points pw = points_of({{window}});
    is_set_of(a, pa);
    is_set_of(a.clipped_to(window), pa & pw);
    is_set_of(a.united_with(b), pa | pb);
    is_set_of(a.intersected_with(b), pa & pb);
    is_set_of(a.without(b), pa & ~pb);
    is_set_of(a.gaps_in(window), pw & ~pa);
  }));
}

// Why: the identity of the metrics (parts add up to the window, to the nanosecond) rests on these laws.
TEST_CASE("IntervalSet: what is in, out and shared adds up") {
  CHECK(rc::check("laws", [] {
    const IntervalSet a = IntervalSet::union_of(any_spans());
    const IntervalSet b = IntervalSet::union_of(any_spans());
    const Interval window = any_interval();
    RC_ASSERT(a.without(b).total() + a.intersected_with(b).total() == a.total());
    RC_ASSERT(a.united_with(b).total() + a.intersected_with(b).total() == a.total() + b.total());
    RC_ASSERT(a.without(b).united_with(a.intersected_with(b)) == a);
    RC_ASSERT(a.united_with(b) == b.united_with(a));
    if (!window.empty()) RC_ASSERT(a.clipped_to(window).total() + a.gaps_in(window).total() == window.length());
  }));
}

// Why: streams may be read in any order, and a span may be told in two pieces.
TEST_CASE("IntervalSet: order, repetition and splitting of the spans do not matter") {
  CHECK(rc::check("same set", [] {
    auto spans = any_spans();
    const IntervalSet set = IntervalSet::union_of(spans);
    const std::size_t once = spans.size();
    for (std::size_t i = 0; i < once; ++i) {
      if (spans[i].empty()) continue;
      const Nanos cut{*rc::gen::inRange(spans[i].begin.count(), spans[i].end.count())};
      spans.push_back({spans[i].begin, cut});
      spans.push_back({cut, spans[i].end});
      if (*rc::gen::arbitrary<bool>()) spans[i] = {};
    }
    for (std::size_t i = spans.size(); i > 1; --i) std::swap(spans[i - 1], spans[*rc::gen::inRange<std::size_t>(0, i)]);
    RC_ASSERT(IntervalSet::union_of(spans) == set);
  }));
}
