#include "analyzer/timeline/range_names.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/core/text.hpp"
#include "analyzer/timeline/builder.hpp"
#include "analyzer/timeline/home_paths.hpp"

namespace traceweir {
namespace {

namespace tml = timeline;

/// A timeline with a range of each name, one after the other.
tml::Timeline with_ranges(const std::vector<std::string>& names) {
  tml::TimelineBuilder builder;
  std::int64_t at = 0;
  for (const std::string& name : names) {
    builder.add(tml::RangeRow{.span = {Nanos{at}, Nanos{at + 1}}, .thread = 1, .name = builder.range_name(name)});
    ++at;
  }
  return std::move(builder).finish();
}

// Why: the numbers of each range are stored, and one long name may be that of ten million.
TEST_CASE("names of ranges with many digits are stored once, however often they come") {
  const std::string most(32, '7'), more = "id " + std::string(33, '7');
  CHECK(with_ranges({most, most}).numbers.size() == 2 * (most.size() + 1));
  const tml::Timeline timeline = with_ranges({more, more, "id 1"});
  CHECK(timeline.numbers == "1,");
  CHECK(timeline.ranges[0].name == timeline.ranges[1].name);
  CHECK(timeline.name(timeline.ranges[0].name) == more);
}

// Why: names are taken apart and put together again; whatever they hold, what comes out is what other names are stored
// as.
TEST_CASE("names of ranges come out as they went in, cleaned") {
  const std::vector<std::string> names = {
      "",
      "0",
      "00",
      "007",
      "step 1",
      "step 0",
      "step N",
      "1,2,,3,",
      "12 monkeys",
      "aten::mul, seq = 314, op_id = 271, sizes = [[2, 3], []]",
      "99999999999999999999999999999999",
      "étape 5",
      "étape 5",
      "\x1b[31m7",
      "bad \xFF utf8 8",
      "layer1/conv2",
      "/",
      "a/",
      "load /home/bob2/data 3",
      "load /home/bob2/data 4",
      "C:\\Users\\bob 1\\x 2",
      "/root/1",
      "a/root 1",
      "/var/root2",
      std::string(name_bytes_max, '7'),
      std::string(name_bytes_max + 1, '7'),
      std::string(name_bytes_max / 2, 'a') + std::string(name_bytes_max, '0'),
  };
  std::string alternating;
  while (alternating.size() < name_bytes_max) alternating += "1x";
  std::vector<std::string> all = names;
  all.push_back(alternating);
  const tml::Timeline timeline = with_ranges(all);
  REQUIRE(timeline.ranges.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i]);
    CHECK(timeline.name(timeline.ranges[i].name) == tml::clean_name(all[i]));
  }
}

// Why: a million operators with a number each made a million names; the numbers are all that may be kept of each.
TEST_CASE("names that differ in numbers alone share a form") {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("aten::mul, op_id = " + std::to_string(i));
  names.emplace_back("aten::mul, op_id = ");
  names.emplace_back("aten::mul, op_id = N");
  const tml::Timeline timeline = with_ranges(names);
  CHECK(timeline.names.size() == 3);
  for (std::size_t i = 1; i < 1000; ++i) {
    CHECK(timeline.ranges[i].name.form == timeline.ranges[0].name.form);
    CHECK(timeline.ranges[i].name != timeline.ranges[0].name);
  }
  CHECK(timeline.numbers.size() < 5 * 1000);
}

// Why: kernels that differ in a number are different kernels, and may be called as the form of ranges is.
TEST_CASE("a form is no other name's") {
  tml::TimelineBuilder builder;
  const auto kernel = builder.name("gemm 0");
  const auto other = builder.name("gemm 1");
  const auto range = builder.range_name("gemm 1");
  CHECK(kernel != other);
  const tml::Timeline timeline = std::move(builder).finish();
  CHECK(timeline.name(kernel) == "gemm 0");
  CHECK(timeline.name(other) == "gemm 1");
  CHECK(timeline.name(range) == "gemm 1");
}

}  // namespace
}  // namespace traceweir
