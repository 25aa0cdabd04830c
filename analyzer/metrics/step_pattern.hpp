// For: which range names are training steps. Not for: which of the matching ranges count (steps.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::metrics {

/// Whether `text` matches `glob`: `*` is any text, `?` one character (UTF-8), everything else itself.
/// Cost: O(text × glob), whatever the glob.
bool matches_glob(std::string_view text, std::string_view glob);

/// Source: spec of metrics, section 1, "step". A glob of the caller's replaces the rule of the format.
class StepPattern {
 public:
  StepPattern(timeline::StepNaming naming, std::optional<std::string> glob);

  [[nodiscard]] bool matches(std::string_view name) const;
  /// Whether of two names that differ in the digits of their numbers one may match and the other not.
  [[nodiscard]] bool tells_numbers_apart() const { return glob_.has_value(); }

 private:
  timeline::StepNaming naming_;
  std::optional<std::string> glob_;
};

}  // namespace traceweir::metrics
