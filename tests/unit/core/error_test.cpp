#include "analyzer/core/error.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace traceweir;

namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::bad_query, "n: odd");
  return n / 2;
}

Result<int> quarter(int n) {
  TRACEWEIR_TRY(once, half(n));
  TRACEWEIR_TRY(twice, half(once));
  return twice;
}

}  // namespace

TEST_CASE("error: TRY binds the value or hands the error up unchanged") {
  CHECK(quarter(8).value() == 2);
  const auto failed = quarter(6);
  REQUIRE(!failed);
  CHECK(failed.error().code == ErrorCode::bad_query);
  CHECK(failed.error().message == "n: odd");
}

TEST_CASE("error: every code has a word of its own, in lower case") {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    const std::string_view text = word(static_cast<ErrorCode>(i));
    CHECK(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK(words.insert(text).second);
  }
}
