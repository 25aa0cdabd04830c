#include "tests/golden/expectation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace traceweir::golden {
namespace {

using nlohmann::json;

// Floats come from one division of exact integers or a few; this is rounding, not tolerance.
constexpr double relative_error_max = 1e-12;

bool same_number(const json& want, const json& got) {
  if (want.is_number_integer() && got.is_number_integer()) return want == got;
  const double a = want;
  const double b = got;
  return std::abs(a - b) <= relative_error_max * std::max(std::abs(a), std::abs(b));
}

/// The number that "5/22" stands for; other texts stand for themselves.
json value_of(const json& want) {
  if (!want.is_string()) return want;
  const std::string text = want;
  const std::size_t bar = text.find('/');
  if (bar == std::string::npos) return want;
  return std::strtod(text.c_str(), nullptr) / std::strtod(text.c_str() + bar + 1, nullptr);
}

class Differences {
 public:
  std::vector<std::string> take() { return std::move(lines_); }

  void add(const std::string& path, const json& want, const json& got) {
    lines_.push_back(path + ": expected " + want.dump() + ", got " + got.dump());
  }

  /// Of objects only the keys that `want` has are looked at.
  void compare(const std::string& path, const json& want, const json& got) {
    if (want.is_number() && got.is_number()) {
      if (!same_number(want, got)) add(path, want, got);
    } else if (want.is_object() && got.is_object()) {
      for (const auto& [key, value] : want.items())
        compare(path + "." + key, value, got.contains(key) ? got[key] : json("(missing)"));
    } else if (want.is_array() && got.is_array() && want.size() == got.size()) {
      for (std::size_t i = 0; i < want.size(); ++i) compare(path + "[" + std::to_string(i) + "]", want[i], got[i]);
    } else if (want != got) {
      add(path, want, got);
    }
  }

  void compare_metrics(const std::string& path, const json& want, const json& rows) {
    for (const auto& [id, value] : want.items()) {
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const json& r) { return r["metric"] == id; });
      if (row == rows.end())
        add(path + "." + id, value, "(missing)");
      else if (value.is_object())
        compare(path + "." + id, value, *row);
      else
        compare(path + "." + id, value_of(value), (*row)["value"]);
    }
  }

  void compare_findings(const std::string& path, const json& want, const json& rows) {
    json got = json::object();
    for (const json& row : rows) got[row["code"].get<std::string>()] = row["severity"];
    if (want != got) add(path, want, got);
  }

  void compare_unordered(const std::string& path, json want, json got) {
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    if (want != got) add(path, want, got);
  }

  void compare_rank(const std::string& path, const json& want, const json& rank) {
    for (const auto& [key, value] : want.items()) {
      const std::string here = path + key;
      if (key == "options") continue;
      if (key == "metrics")
        compare_metrics(here, value, rank["measurements"]);
      else if (key == "findings")
        compare_findings(here, value, rank["findings"]);
      else if (key == "breakdown")
        compare_unordered(here, value, rank["breakdown"]);
      else
        compare(here, value, rank.contains(key) ? rank[key] : json("(missing)"));
    }
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> differences(const json& expected, const json& report) {
  Differences found;
  const json& ranks = report["ranks"];
  const json wanted = expected.contains("ranks") ? expected["ranks"] : json::array({expected});
  if (wanted.size() != ranks.size()) {
    found.add("number of ranks", wanted.size(), ranks.size());
    return found.take();
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    found.compare_rank(wanted.size() > 1 ? "ranks[" + std::to_string(i) + "]." : "", wanted[i], ranks[i]);
  const json run = expected.value("run", json::object());
  if (run.contains("metrics")) found.compare_metrics("run.metrics", run["metrics"], report["run"]["measurements"]);
  if (run.contains("findings")) found.compare_findings("run.findings", run["findings"], report["run"]["findings"]);
  return found.take();
}

}  // namespace traceweir::golden
