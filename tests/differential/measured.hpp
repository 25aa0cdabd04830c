// For: a synthetic job, written to a file and measured as a user's trace would be.
// Not for: expectations; the tests have those.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/metrics/measure.hpp"
#include "tools/make_trace/trace.hpp"

namespace traceweir::differential {

enum class Format { kineto, kineto_gzip, nsys };
inline constexpr Format formats[] = {Format::kineto, Format::kineto_gzip, Format::nsys};

/// A folder that lives as long as this.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The rank of `trace` at `index`, through a file of `format`. Fails the test where the file is refused.
metrics::RankMeasures measured(const make_trace::Trace& trace, std::size_t index, Format format);

/// All ranks of `trace`, through one nsys file.
std::vector<metrics::RankMeasures> measured_together(const make_trace::Trace& trace);

/// The measurements by id, as text: the value with all digits, or the reason why there is none.
std::map<std::string, std::string> by_id(const metrics::RankMeasures& measures);

/// The value of a metric that must have one.
double value_of(const metrics::RankMeasures& measures, const std::string& metric);

/// Metrics that need message sizes, which nsys exports do not carry.
bool needs_sizes(const std::string& metric);

}  // namespace traceweir::differential
