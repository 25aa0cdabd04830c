// For: where commits and acceptances stand on the way back from a run, and so which of them speak to it.
// Not for: reading runs (baseline.hpp), or what an acceptance does to a level (gate).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// The way back from a run.
struct Lineage {
  const store::RunHead& head;
  std::string branch;                  ///< whose runs are the baseline
  std::vector<std::string> ancestors;  ///< where the baseline is looked for, nearest first; empty: not known
  std::vector<std::string> own;        ///< the commit and its first-parent ancestors, nearest first
};

/// Answers for one run. Cost: linear in the ancestors to make; constant for a commit.
class Ancestry {
 public:
  explicit Ancestry(const Lineage& lineage);

  /// How far back the commit is, the run's own commit and those before the merge base being 0. Nothing: it is not on
  /// the way.
  [[nodiscard]] std::optional<std::size_t> distance(const std::string& commit) const;

  /// The same of an acceptance: of its commit, or of the commit from which on it is an ancestor, through whatever
  /// merges. Where the ancestors are not known, those of the baseline branch that were received before count as 0.
  [[nodiscard]] std::optional<std::size_t> distance(const store::Acceptance& acceptance) const;

  /// How many of the newest rows are of the accepted level, or come after it.
  [[nodiscard]] std::size_t rows_since(const store::Acceptance& acceptance,
                                       std::span<const store::BaselineRow> rows) const;

 private:
  const Lineage& lineage_;
  std::unordered_map<std::string, std::size_t> distances_;
};

}  // namespace traceweir::pipeline
