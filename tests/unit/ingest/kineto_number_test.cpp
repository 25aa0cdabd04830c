#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "analyzer/ingest/kineto_number.hpp"

namespace ti = traceweir::ingest;

// Why: microseconds since the epoch with three decimals do not fit a double; every digit must survive, and what is
// below the nanosecond is cut, not rounded.
TEST_CASE("nanos_of_microseconds: exact, cut to the ns") {
  struct Row {
    const char* text;
    std::optional<std::int64_t> want;
  };
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t min = std::numeric_limits<std::int64_t>::min();
  const Row rows[] = {
      {"0", 0},
      {"-0", 0},
      {"1", 1000},
      {"68.0", 68000},
      {"1712195495519689.047", 1712195495519689047},
      {"1712195495519689.0479999999999", 1712195495519689047},
      {"4203669603187.439", 4203669603187439},
      {"0.0009", 0},
      {"-0.0009", 0},
      {"-1.5", -1500},
      {"0.001", 1},
      {"1e3", 1000000},
      {"1E+3", 1000000},
      {"1.2345e-2", 12},
      {"12345e-3", 12345},
      {"1e-05", 0},
      {"4.2036696e+12", 4203669600000000},
      {"0e999999999999999999999", 0},
      {"0.000000000000000000000000000001e33", 1000000},
      {"9223372036854775.807", max},
      {"9223372036854775.808", std::nullopt},
      {"-9223372036854775.808", min},
      {"-9223372036854775.809", std::nullopt},
      {"9223372036854775807", std::nullopt},
      {"1e999", std::nullopt},
      {"1e99999999999999999999999", std::nullopt},
      {"1e-99999999999999999999999", 0},
      {"1000000000000000000000000000000", std::nullopt},
      {"10159970886766084423", std::nullopt},
      {"", std::nullopt},
      {"-", std::nullopt},
      {".5", std::nullopt},
      {"5.", std::nullopt},
      {"1e", std::nullopt},
      {"+1", std::nullopt},
      {"0x10", std::nullopt},
      {"1 2", std::nullopt},
      {"NaN", std::nullopt},
      {"Infinity", std::nullopt},
      {"null", std::nullopt},
      {"\"5\"", std::nullopt},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto got = ti::nanos_of_microseconds(row.text);
    CHECK(got.has_value() == row.want.has_value());
    if (got && row.want) CHECK(got->count() == *row.want);
  }
}

// Why: correlation ids that were written as 117.0 are whole; 117.5 is no id.
TEST_CASE("integer_of: whole numbers only") {
  CHECK(ti::integer_of("117") == 117);
  CHECK(ti::integer_of("117.0") == 117);
  CHECK(ti::integer_of("1.17e2") == 117);
  CHECK(ti::integer_of("-5") == -5);
  CHECK_FALSE(ti::integer_of("117.5"));
  CHECK_FALSE(ti::integer_of("10159970886766084423"));
  CHECK_FALSE(ti::integer_of("seven"));
}

// Why: a number of a megabyte is legal JSON; it must cost its length, not its value.
TEST_CASE("exact_number: a huge mantissa and a huge exponent are cheap") {
  const std::string zeros(1 << 20, '0');
  CHECK(ti::exact_number("0." + zeros + "5e" + std::to_string((1 << 20) + 1), 0)->value == 5);
  CHECK_FALSE(ti::exact_number("1" + zeros, 0));
  CHECK(ti::exact_number("0e4000000000", 3)->value == 0);
}

// Why: nearly all numbers are read eight digits at once; that way and the patient one, which an exponent asks for, must
// say the same of any text.
TEST_CASE("exact_number: the quick way agrees with the patient one") {
  std::mt19937 random(7);
  constexpr std::string_view others = "./:;-+eE ,0\x7f\xb5";
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (std::size_t left = random() % 23; left > 0; --left) text += static_cast<char>('0' + random() % 10);
    if (random() % 2 == 0) text.insert(random() % (text.size() + 1), 1, '.');
    if (random() % 4 == 0) text.insert(random() % (text.size() + 1), 1, others[random() % others.size()]);
    if (text.find_first_of("eE") != std::string::npos) continue;
    const int shift = random() % 2 == 0 ? 0 : 3;
    const auto quick = ti::exact_number(text, shift);
    const auto patient = ti::exact_number(text + "e0", shift);
    CAPTURE(text);
    REQUIRE(quick.has_value() == patient.has_value());
    if (quick) REQUIRE((quick->value == patient->value && quick->cut == patient->cut));
  }
}
