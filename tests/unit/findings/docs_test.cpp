// Why: docs/findings.md is what users read, and the policy's schema what their editors complete; a code that either
// lacks does not exist for them.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analyzer/core/finding.hpp"
#include "analyzer/findings/attribution.hpp"
#include "analyzer/findings/finding_table.hpp"

using namespace traceweir;

namespace {

std::set<std::string> all_codes() {
  std::set<std::string> codes{std::string(word(FindingCode::straggler)),
                              std::string(word(FindingCode::rank_imbalance))};
  for (const findings::FindingRow& row : findings::finding_table()) codes.emplace(word(row.code));
  return codes;
}

/// The first two cells of each row of the page's tables whose header begins so.
std::multimap<std::string, std::string> rows_of(std::ifstream& page, const std::string& header) {
  std::multimap<std::string, std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ")) inside = false;
    if (line.starts_with("| " + header + " |")) inside = true;
    if (!inside || !line.starts_with("| `")) continue;
    const std::size_t end = line.find("` | "), second = line.find(" |", end + 4);
    rows.emplace(line.substr(3, end - 3), line.substr(end + 4, second - end - 4));
  }
  return rows;
}

}  // namespace

TEST_CASE("docs/findings.md lists every finding with its severity, and every idle cause") {
  std::ifstream page("docs/findings.md");
  REQUIRE_MESSAGE(page, "run from the root of the repository");
  const auto written = rows_of(page, "finding");
  std::set<std::string> codes;
  for (const auto& [code, severity] : written) codes.insert(code);
  CHECK(codes == all_codes());
  CHECK(written.size() == codes.size());
  for (const findings::FindingRow& row : findings::finding_table())
    CHECK_MESSAGE(written.find(std::string(word(row.code)))->second.starts_with(word(row.severity)), word(row.code));

  page = std::ifstream("docs/findings.md");
  std::set<std::string> causes;
  for (const auto& [cause, when] : rows_of(page, "cause")) causes.insert(cause);
  CHECK(causes == std::set<std::string>{"dependency", "input", "launch", "sync", "unknown"});
  for (const std::string& cause : causes) CHECK(findings::idle_cause_of(cause));
}

TEST_CASE("schema/policy.schema.json knows the codes of all findings, and no other") {
  std::ifstream in("schema/policy.schema.json");
  REQUIRE_MESSAGE(in, "run from the root of the repository");
  const auto listed = nlohmann::json::parse(in).at("/properties/findings/propertyNames/enum"_json_pointer);
  CHECK(listed.get<std::set<std::string>>() == all_codes());
}
