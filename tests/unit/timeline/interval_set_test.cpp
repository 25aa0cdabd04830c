#include "analyzer/timeline/interval_set.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using traceweir::Interval;
using traceweir::Nanos;
using traceweir::timeline::IntervalSet;

namespace {

using Spans = std::vector<Interval>;
constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

Interval span(std::int64_t begin, std::int64_t end) { return {Nanos{begin}, Nanos{end}}; }
Spans parts(const IntervalSet& set) { return {set.parts().begin(), set.parts().end()}; }

}  // namespace

// Why: two streams that overlap must not count the device as busy twice.
TEST_CASE("IntervalSet: the union of spans") {
  struct Row {
    const char* name;
    Spans spans;
    Spans want;
  };
  const Row rows[] = {
      {"nothing", {}, {}},
      {"empty spans vanish", {span(5, 5), span(7, 3)}, {}},
      {"an empty span does not bridge", {span(0, 1), span(5, 5), span(6, 7)}, {span(0, 1), span(6, 7)}},
      {"overlap counts once", {span(0, 50), span(25, 75)}, {span(0, 75)}},
      {"touching spans leave no gap", {span(0, 50), span(50, 100)}, {span(0, 100)}},
      {"a span inside another", {span(0, 100), span(20, 30), span(90, 110)}, {span(0, 110)}},
      {"unsorted and repeated", {span(8, 9), span(0, 1), span(8, 9)}, {span(0, 1), span(8, 9)}},
      {"the ends of the clock", {span(least, -1), span(-1, most)}, {span(least, most)}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(parts(IntervalSet::union_of(row.spans)) == row.want);
  }
}

// Why: a hole that reaches over several parts, or several holes in one part, are where such code goes wrong.
TEST_CASE("IntervalSet: what is left without the others") {
  struct Row {
    const char* name;
    Spans spans;
    Spans holes;
    Spans want;
  };
  const Row rows[] = {
      {"nothing taken", {span(0, 10)}, {}, {span(0, 10)}},
      {"all taken", {span(2, 4), span(6, 8)}, {span(0, 10)}, {}},
      {"one hole over two parts", {span(0, 4), span(6, 10)}, {span(3, 7)}, {span(0, 3), span(7, 10)}},
      {"two holes in one part", {span(0, 10)}, {span(2, 3), span(5, 6)}, {span(0, 2), span(3, 5), span(6, 10)}},
      {"a hole that touches takes nothing", {span(5, 10)}, {span(0, 5), span(10, 12)}, {span(5, 10)}},
      {"a hole before the first part", {span(5, 10)}, {span(1, 2), span(6, 7)}, {span(5, 6), span(7, 10)}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(parts(IntervalSet::union_of(row.spans).without(IntervalSet::union_of(row.holes))) == row.want);
  }
}

TEST_CASE("IntervalSet: windows") {
  const IntervalSet set = IntervalSet::union_of({span(0, 10), span(20, 30)});
  CHECK(parts(set.clipped_to(span(5, 25))) == Spans{span(5, 10), span(20, 25)});
  CHECK(set.clipped_to(span(10, 20)).empty());
  CHECK(set.clipped_to(span(25, 5)).empty());
  CHECK(parts(set.gaps_in(span(-5, 25))) == Spans{span(-5, 0), span(10, 20)});
  CHECK(set.gaps_in(span(3, 3)).empty());
  CHECK(parts(IntervalSet{}.gaps_in(span(1, 3))) == Spans{span(1, 3)});
}

// Why: a hostile trace may use the whole clock; the sum must not overflow.
TEST_CASE("IntervalSet: the total of the whole clock is the largest number, not a wrapped one") {
  CHECK(IntervalSet::union_of({span(least, most)}).total() == Nanos{most});
  CHECK(IntervalSet::union_of({span(least, -2), span(0, most)}).total() == Nanos{most});
  CHECK(IntervalSet::union_of({span(0, 5), span(7, 9)}).total() == Nanos{7});
}
