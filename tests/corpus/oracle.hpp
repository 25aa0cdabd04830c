// For: reading the corpus and its expected values, and comparing with what we measure.
// Not for: measuring. The folder comes from TRACEWEIR_SHARED, else ../shared.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::corpus {

/// The expected values, or nothing where the folder is absent (a reason is printed).
std::optional<nlohmann::json> oracle();
/// The same of another file of values (`analyzer-hta-asserted.json`).
std::optional<nlohmann::json> vectors(const std::string& name);

/// The timelines of a file of the corpus (`kineto/x.json.gz`), read once per program; .zst is unpacked first.
const Result<std::vector<timeline::Timeline>>& timelines_of(const std::string& file);

/// Collects differences and counts what was compared.
class Comparison {
 public:
  explicit Comparison(std::string where) : where_(std::move(where)) {}

  /// Integers exactly, floats within 1e-9 relative.
  void number(const std::string& what, double got, const nlohmann::json& want);
  void number(const std::string& what, std::int64_t got, const nlohmann::json& want);
  void measurement(const metrics::Measurement& got, const nlohmann::json& want);
  /// `want` is the oracle's result of one rank.
  void rank(const metrics::RankView& view, const metrics::RankMeasures& got, const nlohmann::json& want);
  /// `want` is the oracle's result of several ranks.
  void run(const std::vector<metrics::RunMeasurement>& got, const nlohmann::json& want);

  void differs(const std::string& what, const std::string& got, const std::string& want);

  [[nodiscard]] int compared() const { return compared_; }
  [[nodiscard]] int different() const { return different_; }

 private:
  void window(const std::optional<metrics::Window>& got, const nlohmann::json& want);
  void devices(const metrics::RankView& view, const nlohmann::json& want);
  void totals(const metrics::RankView& view, const nlohmann::json& want);
  void checks(const timeline::Timeline& timeline, const nlohmann::json& want);

  std::string where_;
  int compared_ = 0;
  int different_ = 0;
};

}  // namespace traceweir::corpus
