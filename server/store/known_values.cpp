#include "server/store/known_values.hpp"

#include <algorithm>

namespace traceweir::store {

std::vector<std::size_t> KnownValues::fill(ValueTable& table) {
  const std::lock_guard lock(mutex_);
  if (Clock::now() - since_ > age_max) forget_all();
  const Numbers numbers = numbers_of(table.metrics);
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const auto known = runs_.find(table.runs[i]);
    std::size_t found = 0;
    for (std::size_t metric = 0; known != runs_.end() && metric < numbers.size(); ++metric) {
      const auto value = std::find_if(known->second.begin(), known->second.end(),
                                      [&](const auto& entry) { return entry.first == numbers[metric]; });
      if (value == known->second.end()) break;
      table.row(i)[metric] = value->second;
      ++found;
    }
    if (found < numbers.size()) missing.push_back(i);
  }
  return missing;
}

void KnownValues::keep(const ValueTable& table, std::span<const std::size_t> runs) {
  const std::lock_guard lock(mutex_);
  if (count_ + runs.size() * table.metrics.size() > values_max) forget_all();
  if (runs.size() * table.metrics.size() > values_max) return;
  const Numbers numbers = numbers_of(table.metrics);
  for (const std::size_t run : runs) {
    auto& known = runs_[table.runs[run]];
    for (std::size_t metric = 0; metric < numbers.size(); ++metric) {
      const bool is_there =
          std::any_of(known.begin(), known.end(), [&](const auto& entry) { return entry.first == numbers[metric]; });
      if (is_there) continue;
      known.emplace_back(numbers[metric], table.row(run)[metric]);
      ++count_;
    }
  }
}

void KnownValues::clear() {
  const std::lock_guard lock(mutex_);
  forget_all();
}

KnownValues::Numbers KnownValues::numbers_of(const std::vector<std::string>& metrics) {
  Numbers numbers;
  for (const std::string& metric : metrics)
    numbers.push_back(metrics_.emplace(metric, static_cast<std::uint32_t>(metrics_.size())).first->second);
  return numbers;
}

void KnownValues::forget_all() {
  metrics_.clear();
  runs_.clear();
  count_ = 0;
  since_ = Clock::now();
}

}  // namespace traceweir::store
