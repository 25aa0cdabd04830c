// Values that other projects assert, where our functions have the same definition:
//   Bencher     mean, variance about a centre, location and scale of ln x; quartiles (type 7), also of the changes
//   between
//               neighbours; limits of the t prediction interval, of z, and the upper log-normal one
//   Otava       change points, from scratch; three settings of one series differ by one point, because there the second
//               neighbour of a deleted point is tested again and not the first (gate/change_points.hpp tests both)
//   asv         exact Mann–Whitney, two-sided as twice the smaller side, and its distribution; quantile (type 7)
//   Skia        exact Mann–Whitney of two halves
//   Perfherder  mean and variance with uniform weights
// Not ours, and why:
//   Bencher     IQR and percentage limits, alerts (rules that we do not have), the lower log-normal limit (a mirror of
//   the
//               upper one; ours is the distribution's)
//   Otava       permutations (random), appending to older answers (we compute from scratch), filling gaps (refused)
//   asv         fits by least absolute deviations and their rule; confidence intervals of quantiles
//   Skia        six statistics of a step in the middle of a trace, and rules over them
//   Perfherder  linear weights; Welch's t without degrees of freedom; alerts by age and by direction
//   Chromeperf  Mann–Whitney and Kolmogorov–Smirnov by approximation, Welch with population variances, filters
//   Conbench    z over deviations from a running mean, whose first one is set to 0
//   MongoDB     energy statistics with divisors n² (ours: pairs), random permutations, generalised ESD
//   LNT         distance to the nearest of ten values; a table of U that is meant for its smaller side
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gate/change_points.hpp"
#include "gate/history.hpp"
#include "gate/statistics.hpp"

using namespace traceweir::gate;
using nlohmann::json;

namespace {

/// A set of another project, or nothing (said aloud) where the folder is absent.
json set_of(const std::string& file) {
  std::ifstream in("../shared/vectors/" + file);
  if (in) return json::parse(in);
  std::cout << "SKIPPED: no corpus (../shared/vectors/" << file << " is absent)\n";
  return {{"cases", json::array()}};
}

/// The cases of a set whose `key` is `kind`.
std::vector<json> cases_of(const std::string& file, const std::string& key, const std::string& kind) {
  std::vector<json> cases;
  const json set = set_of(file);
  for (const json& row : set["cases"])
    if (row.value(key, "") == kind) cases.push_back(row);
  REQUIRE((!cases.empty() || set["cases"].empty()));
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

TEST_CASE("vectors: bencher, quartiles of the changes between neighbours") {
  for (const json& row : cases_of("bencher_quartiles.json", "kind", "delta_quartiles")) {
    CAPTURE(row["id"]);
    if (row["expected"].is_null()) continue;
    const std::vector<double> values = numbers(row["input"]);
    std::vector<double> changes, want;
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
      changes.push_back(std::abs(values[i + 1] - values[i]) / std::abs(values[i]));
    for (const auto& item : row["expected"].items()) want.push_back(item.value().get<double>());
    std::sort(want.begin(), want.end());
    REQUIRE(want.size() == 3);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
      CHECK(std::abs(quantile(changes, 0.25 * static_cast<double>(i + 1)) - want[i]) <= 1e-12);
  }
}

TEST_CASE("vectors: bencher, upper limit of log-normal values") {
  for (const json& row : cases_of("bencher_limits.json", "method", "log_normal")) {
    CAPTURE(row["id"]);
    std::vector<double> logarithms;
    for (const double value : numbers(row["input"]["data"])) logarithms.push_back(to_scale(Scale::logarithmic, value));
    const double level = mean(logarithms), spread = std::sqrt(variance_about(logarithms, level));
    const double upper = from_scale(Scale::logarithmic, level + spread * normal_quantile(row["input"]["p"]));
    CHECK(from_scale(Scale::logarithmic, level) == doctest::Approx(row["expected"]["baseline"].get<double>()));
    CHECK(upper == doctest::Approx(row["expected"]["upper"].get<double>()).epsilon(1e-9));
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

TEST_CASE("vectors: asv, distribution of U") {
  for (const json& row : cases_of("asv.json", "kind", "mann_whitney_cdf_table")) {
    const auto m = row["m"].get<std::size_t>();
    const json& rows = row["rows_u_columns_n"];
    for (std::size_t u = 0; u < rows.size(); ++u)
      for (std::size_t column = 0; column < rows[u].size(); ++column) {
        if (rows[u][column].is_null()) continue;
        const std::size_t n = column + 1;
        if (u > m * n) continue;
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(u);
        // Samples whose U is m·n − u: P(U >= m·n − u) is P(U <= u).
        std::vector<double> above, below;
        for (std::size_t i = 0; i < n; ++i) below.push_back(static_cast<double>(i));
        for (std::size_t i = 0, left = m * n - u; i < m; ++i) {
          const std::size_t beaten = std::min(n, left);
          left -= beaten;
          above.push_back(static_cast<double>(beaten) - 0.5 + 1e-3 * static_cast<double>(i));
        }
        CHECK(std::abs(mann_whitney_above(above, below) - rows[u][column].get<double>()) <= 1e-3);
      }
  }
}

TEST_CASE("vectors: asv, quantile") {
  for (const json& row : cases_of("asv.json", "kind", "quantile_ci"))
    CHECK(quantile(numbers(row["x"]), row["p"]) ==
          doctest::Approx(row["expected"]["quantile"].get<double>()).epsilon(1e-6));
}

TEST_CASE("vectors: skia, exact Mann-Whitney") {
  for (const json& row : cases_of("skia_stepfit.json", "algorithm", "mann_whitney")) {
    CAPTURE(row["id"]);
    std::vector<double> values;
    for (const json& value : row["trace"])
      if (!value.is_null()) values.push_back(value.get<double>());
    const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    const std::vector<double> a(values.begin(), half), b(half, values.end());
    if (a.empty()) continue;
    const double p = std::min(1.0, 2 * std::min(mann_whitney_above(a, b), mann_whitney_above(b, a)));
    const double want = std::abs(row["expected"]["regression"].get<double>());
    if (row["expected"]["status"] != "uninteresting") CHECK(p == doctest::Approx(want).epsilon(2e-6));
  }
}

TEST_CASE("vectors: perfherder, moments with uniform weights") {
  for (const json& row : cases_of("perfherder_stats.json", "kind", "analyze")) {
    if (row["input"]["weights"] != "uniform") continue;
    CAPTURE(row["id"]);
    std::vector<double> values;
    for (const json& revision : row["input"]["revisions"])
      for (const json& value : revision) values.push_back(value.get<double>());
    if (values.empty()) continue;
    const double average = mean(values);
    CHECK(average == doctest::Approx(row["expected"]["avg"].get<double>()));
    if (values.size() >= 2)
      CHECK(variance_about(values, average) == doctest::Approx(row["expected"]["variance"].get<double>()));
  }
}

namespace {

/// The authors' own rule: no least number of values on a side.
std::vector<std::size_t> changes_of(const std::vector<double>& series, const json& params) {
  const ChangePointOptions options{params["max_pvalue"], params["min_magnitude"], params["window_len"], 1};
  std::vector<std::size_t> indices;
  for (const ChangePoint& point : change_points(series, options)) indices.push_back(point.index);
  return indices;
}

}  // namespace

TEST_CASE("vectors: otava, small series") {
  for (const json& row : cases_of("otava_edivisive.json", "kind", "split_merge")) {
    CAPTURE(row["id"]);
    const std::vector<std::size_t> got = changes_of(numbers(row["series"]), row["params"]);
    const json& want = row["expected"];
    if (want.contains("change_points")) CHECK(json(got) == want["change_points"]);
    if (want.contains("count")) CHECK(got.size() == want["count"].get<std::size_t>());
    if (want.contains("first")) CHECK(got.front() == want["first"].get<std::size_t>());
  }
  for (const json& row : cases_of("otava_edivisive.json", "kind", "append")) {
    CAPTURE(row["id"]);
    const json& want =
        row.contains("full_recompute_expected") ? row["full_recompute_expected"] : row["expected"]["after_each"];
    std::vector<double> series = numbers(row["series"]);
    for (std::size_t i = 0; i < row["append_steps"].size(); ++i) {
      for (const double value : numbers(row["append_steps"][i])) series.push_back(value);
      CHECK(json(changes_of(series, row["params"])) == want[i]);
    }
  }
}

TEST_CASE("vectors: otava, a real series of 365 values") {
  const json set = set_of("otava_tigerbeetle.json");
  int equal = 0, near = 0;
  for (const json& row : set["cases"]) {
    CAPTURE(row["id"]);
    const std::vector<std::size_t> got = changes_of(numbers(set["series"]), row["params"]);
    const auto want = row["expected"]["change_points"].get<std::vector<std::size_t>>();
    std::vector<std::size_t> different;
    std::set_symmetric_difference(got.begin(), got.end(), want.begin(), want.end(), std::back_inserter(different));
    CHECK(different.size() <= 1);
    ++(different.empty() ? equal : near);
  }
  CHECK(near <= 3);
  if (!set["cases"].empty()) CHECK(equal >= 5);
}
