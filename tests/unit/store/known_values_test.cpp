#include "server/store/known_values.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

using traceweir::store::KnownValues;
using traceweir::store::ValueTable;

namespace {

using Missing = std::vector<std::size_t>;

/// What is read from the store, where it is missing.
void put(KnownValues& known, const std::string& run, const std::string& metric, std::optional<double> value) {
  ValueTable table({run}, {metric});
  table.row(0)[0] = value;
  const Missing all{0};
  known.keep(table, all);
}

}  // namespace

TEST_CASE("known values: a run is missing until all of its metrics are known, and no value is a value") {
  KnownValues known;
  put(known, "a", "step.time_p50", 2.0);
  put(known, "b", "step.time_p50", std::nullopt);
  ValueTable one({"a", "b", "c"}, {"step.time_p50"});
  CHECK(known.fill(one) == Missing{2});
  CHECK(one.row(0)[0] == 2.0);
  CHECK(one.row(1)[0] == std::nullopt);
  ValueTable two({"a", "b"}, {"gpu.idle", "step.time_p50"});
  CHECK(known.fill(two) == Missing{0, 1});
  put(known, "a", "gpu.idle", 0.25);
  CHECK(known.fill(two) == Missing{1});
  CHECK(two.row(0)[0] == 0.25);
  CHECK(two.row(0)[1] == 2.0);
}

TEST_CASE("known values: what was cleared is missing again") {
  KnownValues known;
  put(known, "a", "gpu.idle", 0.25);
  known.clear();
  ValueTable table({"a"}, {"gpu.idle"});
  CHECK(known.fill(table) == Missing{0});
}

TEST_CASE("known values: they do not grow for ever, and a table that is too large is not kept") {
  KnownValues known;
  put(known, "first", "gpu.idle", 0.25);
  for (int part = 0; part < 6; ++part) {
    std::vector<std::string> runs;
    for (int run = 0; run < 100'000; ++run) runs.push_back(std::to_string(part) + "-" + std::to_string(run));
    ValueTable table(std::move(runs), {"gpu.idle"});
    known.keep(table, known.fill(table));
  }
  ValueTable kept({"first", "3-49999", "3-50000", "5-99999"}, {"gpu.idle"});
  CHECK(known.fill(kept) == Missing{0, 1});  // the newest 250,000
  ValueTable large(std::vector<std::string>(600'000, "large"), {"gpu.idle"});
  known.keep(large, known.fill(large));
  ValueTable asked({"large"}, {"gpu.idle"});
  CHECK(known.fill(asked) == Missing{0});
}

TEST_CASE("known values: each run is known for five minutes from the first of its values on") {
  KnownValues::Clock::time_point now{};
  KnownValues known([&now] { return now; });
  put(known, "a", "gpu.idle", 0.25);
  now += std::chrono::minutes{3};
  put(known, "a", "step.time_p50", 2.0);
  put(known, "b", "gpu.idle", 0.5);
  now += std::chrono::minutes{2};
  ValueTable table({"a", "b"}, {"gpu.idle"});
  CHECK(known.fill(table).empty());
  now += std::chrono::seconds{1};
  CHECK(known.fill(table) == Missing{0});
  put(known, "a", "gpu.idle", 0.75);
  CHECK(known.fill(table).empty());
  CHECK(table.row(0)[0] == 0.75);
  now += std::chrono::minutes{3};
  CHECK(known.fill(table) == Missing{1});
}
