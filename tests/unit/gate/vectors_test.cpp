// Values that other projects assert, where our functions have the same definition:
//   bencher_moments (mean, variance about a centre, log-normal location and scale), bencher_quartiles (type 7),
//   bencher_limits (t prediction interval, z), asv (exact Mann–Whitney, two-sided as twice the smaller side).
// Not ours: delta quartiles, IQR and mirrored log-normal limits (bencher), Potts fits (asv), normal-approximated
// Mann–Whitney, Kolmogorov–Smirnov and change-point filters (catapult).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gate/history.hpp"
#include "gate/statistics.hpp"

using namespace traceweir::gate;
using nlohmann::json;

namespace {

/// The cases of a set whose `key` is `kind`, or nothing (said aloud) where the folder is absent.
std::vector<json> cases_of(const std::string& file, const std::string& key, const std::string& kind) {
  std::ifstream in("../shared/vectors/" + file);
  if (!in) {
    std::cout << "skipped: ../shared/vectors/" << file << " is absent\n";
    return {};
  }
  std::vector<json> cases;
  const json set = json::parse(in);
  for (const json& row : set["cases"])
    if (row[key] == kind) cases.push_back(row);
  REQUIRE_FALSE(cases.empty());
  return cases;
}

std::vector<double> numbers(const json& array) { return array.get<std::vector<double>>(); }

/// A history of n values with a known level and standard deviation.
History history_with(double level, double spread, std::size_t n) {
  History history;
  history.level = level;
  history.spread = spread;
  history.current = std::vector<double>(n, level);
  history.degrees = static_cast<double>(n - 1);
  return history;
}

}  // namespace

TEST_CASE("vectors: bencher, moments") {
  for (const json& row : cases_of("bencher_moments.json", "kind", "mean")) {
    CAPTURE(row["id"]);
    if (row["expected"].is_null()) continue;  // ours demands values
    CHECK(mean(numbers(row["input"])) == doctest::Approx(row["expected"].get<double>()).epsilon(1e-12));
  }
  for (const json& row : cases_of("bencher_moments.json", "kind", "variance_about")) {
    CAPTURE(row["id"]);
    if (row["expected"].is_null()) continue;
    const double got = variance_about(numbers(row["input"]), row["centre"].get<double>());
    CHECK(std::abs(got - row["expected"].get<double>()) <= 1e-12);
  }
  for (const json& row : cases_of("bencher_moments.json", "kind", "lognormal_params")) {
    CAPTURE(row["id"]);
    if (row["expected"].is_null()) continue;
    std::vector<double> logarithms;
    for (const double value : numbers(row["input"])) logarithms.push_back(to_scale(Scale::logarithmic, value));
    CHECK(std::abs(mean(logarithms) - row["expected"]["location"].get<double>()) <= 1e-12);
    const double scale = std::sqrt(variance_about(logarithms, mean(logarithms)));
    CHECK(std::abs(scale - row["expected"]["scale"].get<double>()) <= 1e-12);
  }
}

TEST_CASE("vectors: bencher, quartiles") {
  for (const json& row : cases_of("bencher_quartiles.json", "kind", "quartiles")) {
    CAPTURE(row["id"]);
    if (row["expected"].is_null()) continue;
    std::vector<double> want;
    for (const auto& item : row["expected"].items()) want.push_back(item.value().get<double>());
    std::sort(want.begin(), want.end());
    REQUIRE(want.size() == 3);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
      CHECK(std::abs(quantile(numbers(row["input"]), 0.25 * static_cast<double>(i + 1)) - want[i]) <= 1e-12);
  }
}

TEST_CASE("vectors: bencher, limits of the t prediction interval and of z") {
  for (const json& row : cases_of("bencher_limits.json", "method", "t_test")) {
    CAPTURE(row["id"]);
    const json& in = row["input"];
    const History history = history_with(in["mean"], in["sd"], in["n"].get<std::size_t>());
    const double width = band(history, 1, 1 - in["p"].get<double>());
    if (row["expected"].contains("property")) {
      // Stated in words: near z with many runs, wider than z with few.
      const double z = in["sd"].get<double>() * normal_quantile(in["p"].get<double>());
      const bool few = history.current.size() == 2;
      CHECK((few ? width > z : std::abs(width - z) < 0.1));
      continue;
    }
    CHECK(std::abs(history.level + width - row["expected"]["upper"].get<double>()) <= 1e-6);
    CHECK(std::abs(history.level - width - row["expected"]["lower"].get<double>()) <= 1e-6);
  }
  for (const json& row : cases_of("bencher_limits.json", "method", "z_score")) {
    CAPTURE(row["id"]);
    const json& in = row["input"];
    const double width = in["sd"].get<double>() * normal_quantile(in["p"].get<double>());
    CHECK(std::abs(in["mean"].get<double>() + width - row["expected"]["upper"].get<double>()) <= 1e-6);
  }
}

TEST_CASE("vectors: asv, exact Mann-Whitney") {
  for (const json& row : cases_of("asv.json", "kind", "mann_whitney_exact_two_sided")) {
    CAPTURE(row["id"]);
    const std::vector<double> a = numbers(row["input"]["a"]), b = numbers(row["input"]["b"]);
    const double smaller = std::min(mann_whitney_above(a, b), mann_whitney_above(b, a));
    CHECK(std::min(1.0, 2 * smaller) == doctest::Approx(row["expected"]["p"].get<double>()).epsilon(1e-9));
  }
}
