#include "server/pipeline/lineage.hpp"

#include <algorithm>

namespace traceweir::pipeline {

Ancestry::Ancestry(const Lineage& lineage) : lineage_(lineage) {
  for (std::size_t i = 0; i < lineage.ancestors.size(); ++i) distances_.try_emplace(lineage.ancestors[i], i + 1);
  // The commits of a pull request before its merge base: nothing of the baseline is as near.
  for (const std::string& commit : lineage.own) distances_.try_emplace(commit, 0);
  distances_[lineage.head.commit] = 0;
}

std::optional<std::size_t> Ancestry::distance(const std::string& commit) const {
  const auto found = distances_.find(commit);
  return found == distances_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> Ancestry::distance(const store::Acceptance& acceptance) const {
  if (const auto own = distance(acceptance.commit)) return own;
  std::optional<std::size_t> furthest;
  // The furthest of them is the first that has the accepted commit as an ancestor: its merge, or the commit behind it.
  for (const std::string& descendant : acceptance.children)
    if (const auto merged = distance(descendant)) furthest = std::max(furthest.value_or(*merged), *merged);
  if (furthest || !lineage_.ancestors.empty()) return furthest;
  const bool before = acceptance.branch == lineage_.branch && acceptance.run_received_at < lineage_.head.received_at;
  return before ? std::optional<std::size_t>(0) : std::nullopt;
}

std::size_t Ancestry::rows_since(const store::Acceptance& acceptance, std::span<const store::BaselineRow> rows) const {
  const std::size_t back = distance(acceptance).value_or(0);
  const auto is_since = [&](const store::BaselineRow& row) {
    if (lineage_.ancestors.empty())
      return acceptance.commit != lineage_.head.commit && row.received_at >= acceptance.run_received_at;
    const auto of_row = distance(row.commit);
    return of_row && *of_row <= back;
  };
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_since));
}

}  // namespace traceweir::pipeline
