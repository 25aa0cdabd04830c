#include "gate/units.hpp"

#include <doctest/doctest.h>

#include <string>

using traceweir::Unit;
using namespace traceweir::gate;

// Why: a limit that is off by a factor of thousand passes everything or nothing, and 89.1% must be the double 0.891.
TEST_CASE("units: limits are read exactly") {
  struct Row {
    const char* text;
    Unit unit;
    double want;
  };
  const Row rows[] = {
      {"50 ms", Unit::ns, 50e6},
      {"50ms", Unit::ns, 50e6},
      {" 1.5  s ", Unit::ns, 1.5e9},
      {"250 us", Unit::ns, 250e3},
      {"250 \u00b5s", Unit::ns, 250e3},
      {"250\u03bcs", Unit::ns, 250e3},
      {"12 ns", Unit::ns, 12},
      {"85%", Unit::ratio, 0.85},
      {"89.1 %", Unit::ratio, 0.891},
      {"0.1%", Unit::ratio, 0.001},
      {"100%", Unit::ratio, 1},
      {"512 B", Unit::bytes, 512},
      {"1.5 KiB", Unit::bytes, 1536},
      {"2 MiB", Unit::bytes, 2097152},
      {"1 GiB", Unit::bytes, 1073741824},
      {"12.5 GB/s", Unit::gb_per_s, 12.5},
      {"3", Unit::count, 3},
      {"0", Unit::count, 0},
      {"2.5", Unit::count, 2.5},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto amount = parse_limit(row.text, row.unit);
    REQUIRE(amount.has_value());
    CHECK(amount->value == row.want);
  }
  CHECK(parse_step("3pp", Unit::ratio)->value == 0.03);
  CHECK(parse_step("0.2 ms", Unit::ns)->value == 200e3);
  CHECK(parse_limit(" 50 ms ", Unit::ns)->text == "50 ms");
}

// Why: a wrong unit that is read anyway is a gate that nobody asked for.
TEST_CASE("units: what is no quantity of the metric is refused, and says what is wanted") {
  struct Row {
    const char* text;
    Unit unit;
    const char* want;
  };
  const Row rows[] = {
      {"50", Unit::ns, "lacks its unit: a number with a unit of ns, us, ms, s is wanted"},
      {"50 MiB", Unit::ns, "wrong unit"},
      {"1e400 ms", Unit::ns, "\"1e400 ms\" is out of range: a number up to 1e+150 is wanted"},
      {"1E+151", Unit::count, "out of range"},
      {"1 e300 ms", Unit::ns, "wrong unit"},
      {"50 msec", Unit::ns, "wrong unit"},
      {"50 MS", Unit::ns, "wrong unit"},
      {"-5 ms", Unit::ns, "is not a number"},
      {"ms", Unit::ns, "is not a number"},
      {"", Unit::ns, "is not a number"},
      {".5 ms", Unit::ns, "is not a number"},
      {"5. ms", Unit::ns, "wrong unit"},
      {"1e3 ms", Unit::ns, "wrong unit"},
      {"nan ms", Unit::ns, "is not a number"},
      {"inf", Unit::count, "is not a plain number"},
      {"1 2 ms", Unit::ns, "wrong unit"},
      {"85", Unit::ratio, "lacks its unit"},
      {"85pp", Unit::ratio, "wrong unit"},
      {"5 KB", Unit::bytes, "wrong unit"},
      {"5 Gbit/s", Unit::gb_per_s, "wrong unit"},
      {"3 steps", Unit::count, "a plain number without a unit"},
      {"111111111111111111111111111111111111111111111111111 ms", Unit::ns, "is not a number"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto amount = parse_limit(row.text, row.unit);
    REQUIRE_FALSE(amount.has_value());
    CAPTURE(amount.error().message);
    CHECK(amount.error().message.find(row.want) != std::string::npos);
  }
  CHECK_FALSE(parse_step("3%", Unit::ratio).has_value());
}

TEST_CASE("units: tolerances are percentages of the level, or points of a ratio") {
  CHECK(parse_tolerance("10%", Unit::ns)->kind == Tolerance::Kind::ratio);
  CHECK(parse_tolerance("10 %", Unit::ns)->value == 0.1);
  CHECK(parse_tolerance("10 %", Unit::ns)->text == "10%");
  CHECK(parse_tolerance("3pp", Unit::ratio)->kind == Tolerance::Kind::points);
  CHECK(parse_tolerance("3 pp", Unit::ratio)->value == 0.03);
  CHECK(parse_tolerance("3%", Unit::ratio)->kind == Tolerance::Kind::ratio);
  for (const char* text : {"3pp", "10", "10 ms", "", "%", "-1%"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_tolerance(text, Unit::ns).has_value());
  }
}

// Why: a person compares two numbers at a glance only if they are on one step and differ where the values do.
TEST_CASE("units: numbers for a person") {
  CHECK(human(0.891, Unit::ratio) == "89.1 %");
  CHECK(human(45.2e6, Unit::ns) == "45.2 ms");
  CHECK(human(1234, Unit::ns) == "1.23 µs");
  CHECK(human(12, Unit::ns) == "12 ns");
  CHECK(human(2.5e9, Unit::ns) == "2.50 s");
  CHECK(human(1572864, Unit::bytes) == "1.50 MiB");
  CHECK(human(7, Unit::count) == "7");
  CHECK(human(12.34, Unit::gb_per_s) == "12.3 GB/s");
  CHECK(human(1e300, Unit::bytes).size() < 32);

  CHECK(human_pair(0.891, 0.68, Unit::ratio).from == "89.1 %");
  CHECK(human_pair(0.8911, 0.8913, Unit::ratio).to == "89.13 %");
  CHECK(human_pair(900e3, 1.2e6, Unit::ns).from == "0.90 ms");
  CHECK(human_pair(5, 5, Unit::count).to == "5");

  CHECK(human_delta(-0.211, 0.891, Unit::ratio) == "-21.1 pp");
  CHECK(human_delta(7e6, 45e6, Unit::ns) == "+15.6 %");
  CHECK(human_delta(2, 0, Unit::count) == "+2");
  CHECK(human_delta(0, 4, Unit::count) == "0 %");
  CHECK(human_delta(-1e-6, 0.89, Unit::ratio) == "0.0 pp");
  CHECK(human_delta(0.0004, 0.89, Unit::ratio) == "0.0 pp");
  CHECK(human_delta(0.0006, 0.89, Unit::ratio) == "+0.1 pp");
  CHECK(human_delta(900, 45e6, Unit::ns) == "0 %");
  CHECK(human_delta(-900, 45e6, Unit::ns) == "0 %");
  CHECK(human_delta(-0.001, 0, Unit::count) == "0");
  CHECK(spaced("250us") == "250 µs");
  CHECK(spaced("10% and 250 us") == "10 % and 250 µs");
  CHECK(spaced("3pp") == "3 pp");
  CHECK(spaced("10% and 0.1 ms") == "10 % and 0.1 ms");
}
