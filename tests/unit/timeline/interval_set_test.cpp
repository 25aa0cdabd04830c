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

Interval between(std::int64_t begin, std::int64_t end) { return {Nanos{begin}, Nanos{end}}; }
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
      {"empty spans vanish", {between(5, 5), between(7, 3)}, {}},
      {"an empty span does not bridge", {between(0, 1), between(5, 5), between(6, 7)}, {between(0, 1), between(6, 7)}},
      {"overlap counts once", {between(0, 50), between(25, 75)}, {between(0, 75)}},
      {"touching spans leave no gap", {between(0, 50), between(50, 100)}, {between(0, 100)}},
      {"a span inside another", {between(0, 100), between(20, 30), between(90, 110)}, {between(0, 110)}},
      {"unsorted and repeated", {between(8, 9), between(0, 1), between(8, 9)}, {between(0, 1), between(8, 9)}},
      {"the ends of the clock", {between(least, -1), between(-1, most)}, {between(least, most)}},
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
      {"nothing taken", {between(0, 10)}, {}, {between(0, 10)}},
      {"all taken", {between(2, 4), between(6, 8)}, {between(0, 10)}, {}},
      {"one hole over two parts", {between(0, 4), between(6, 10)}, {between(3, 7)}, {between(0, 3), between(7, 10)}},
      {"two holes in one part",
       {between(0, 10)},
       {between(2, 3), between(5, 6)},
       {between(0, 2), between(3, 5), between(6, 10)}},
      {"a hole that touches takes nothing", {between(5, 10)}, {between(0, 5), between(10, 12)}, {between(5, 10)}},
      {"a hole before the first part",
       {between(5, 10)},
       {between(1, 2), between(6, 7)},
       {between(5, 6), between(7, 10)}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(parts(IntervalSet::union_of(row.spans).without(IntervalSet::union_of(row.holes))) == row.want);
  }
}

TEST_CASE("IntervalSet: windows") {
  const IntervalSet set = IntervalSet::union_of({between(0, 10), between(20, 30)});
  CHECK(parts(set.clipped_to(between(5, 25))) == Spans{between(5, 10), between(20, 25)});
  CHECK(set.clipped_to(between(10, 20)).empty());
  CHECK(set.clipped_to(between(25, 5)).empty());
  CHECK(parts(set.gaps_in(between(-5, 25))) == Spans{between(-5, 0), between(10, 20)});
  CHECK(set.gaps_in(between(3, 3)).empty());
  CHECK(parts(IntervalSet{}.gaps_in(between(1, 3))) == Spans{between(1, 3)});
}

// Why: a hostile trace may use the whole clock; the sum must not overflow.
TEST_CASE("IntervalSet: the total of the whole clock is the largest number, not a wrapped one") {
  CHECK(IntervalSet::union_of({between(least, most)}).total() == Nanos{most});
  CHECK(IntervalSet::union_of({between(least, -2), between(0, most)}).total() == Nanos{most});
  CHECK(IntervalSet::union_of({between(0, 5), between(7, 9)}).total() == Nanos{7});
}
