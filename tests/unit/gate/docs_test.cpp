// The page that users read says what the program does.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "gate/judge.hpp"
#include "gate/policy_keys.hpp"
#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;

namespace {

std::string page() {
  std::ifstream in("docs/gate.md");
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("docs/gate.md: its policy is one") {
  const std::string text = page();
  const std::size_t begin = text.find("```toml\n") + 8;
  const Policy policy = cases::policy_of(text.substr(begin, text.find("```", begin) - begin));
  CHECK(policy.rules.size() == 3);
  CHECK(policy.findings.size() == 1);
}

TEST_CASE("docs/gate.md: every key of a table and every reason is there") {
  const std::string text = page();
  for (std::string key : policy_keys()) {
    if (key.starts_with("rules.*.")) key.replace(0, 8, "rules.M.");
    if (key.starts_with("findings.*.")) key.replace(0, 11, "findings.CODE.");
    const bool is_table = key.find('.') == std::string::npos;
    CAPTURE(key);
    CHECK(text.find((is_table ? "" : "`") + key) != std::string::npos);
  }
  for (int i = 0; i <= static_cast<int>(Reason::found); ++i) {
    const std::string row = "| `" + std::string(word(static_cast<Reason>(i))) + "`";
    CAPTURE(row);
    CHECK(text.find(row) != std::string::npos);
  }
}

TEST_CASE("docs/gate.md: the built-in rules are those of the table") {
  const std::string text = page();
  for (const Rule& rule : built_in_policy().rules) {
    CAPTURE(rule.metric);
    const std::size_t row = text.find("`" + rule.metric + "`", text.find("| metric | tolerance |"));
    REQUIRE(row != std::string::npos);
    const std::string line = text.substr(row, text.find('\n', row) - row);
    CHECK(line.find(rule.worse_by->text) != std::string::npos);
    if (rule.at_least) CHECK(line.find(rule.at_least->text) != std::string::npos);
  }
}
