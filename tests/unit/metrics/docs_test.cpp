// Why: docs/metrics.md is what users read; a metric that it lacks, or tells otherwise, does not exist for them.
#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>

#include "analyzer/metrics/measure.hpp"
#include "analyzer/metrics/named.hpp"

using namespace traceweir;
using namespace traceweir::metrics;

namespace {

/// `| id | unit | better |` of a metric as the page spells it: kinds are one row `K.…`.
std::string row_of(const MetricInfo& metric) {
  const std::string kind = metric.id.substr(0, metric.id.find('.'));
  const bool of_kind = timeline::collective_of(kind) && metric.id != "allreduce.small_share";
  const std::string id = of_kind ? "K" + metric.id.substr(kind.size()) : metric.id;
  return "| `" + id + "` | " + std::string(word(metric.unit)) + " | " + std::string(word(metric.better)) + " |";
}

}  // namespace

TEST_CASE("docs/metrics.md lists the catalogue, no more and no less") {
  std::ifstream page("docs/metrics.md");
  REQUIRE_MESSAGE(page, "run from the root of the repository");
  std::set<std::string> written;
  for (std::string line; std::getline(page, line);) {
    const std::size_t unit = line.find("| ", 2);
    const std::size_t better = unit == std::string::npos ? unit : line.find("| ", unit + 2);
    const std::size_t end = better == std::string::npos ? better : line.find('|', better + 2);
    if (end == std::string::npos || !line.starts_with("| `")) continue;
    if (unit_of(line.substr(unit + 2, better - unit - 3))) written.insert(line.substr(0, end + 1));
  }
  std::set<std::string> known;
  for (const MetricInfo& metric : catalog()) known.insert(row_of(metric));
  for (const MetricInfo& family : families()) known.insert(row_of(family));
  for (const std::string& row : known) CHECK_MESSAGE(written.count(row) == 1, "not in the docs: " << row);
  for (const std::string& row : written) CHECK_MESSAGE(known.count(row) == 1, "not in the catalogue: " << row);
}
