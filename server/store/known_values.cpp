#include "server/store/known_values.hpp"

#include <algorithm>

namespace traceweir::store {

std::vector<std::size_t> KnownValues::fill(ValueTable& table) {
  const std::lock_guard lock(mutex_);
  while (!runs_.empty() && now_() - runs_.front().since > age_max) forget_first();
  const Numbers numbers = numbers_of(table.metrics);
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const auto place = places_.find(table.runs[i]);
    std::size_t found = 0;
    for (std::size_t metric = 0; place != places_.end() && metric < numbers.size(); ++metric) {
      const auto& known = place->second->values;
      const auto value =
          std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == numbers[metric]; });
      if (value == known.end()) break;
      table.row(i)[metric] = value->second;
      ++found;
    }
    if (found < numbers.size()) missing.push_back(i);
  }
  return missing;
}

void KnownValues::keep(const ValueTable& table, std::span<const std::size_t> runs) {
  const std::lock_guard lock(mutex_);
  if (runs.size() * table.metrics.size() > values_max) return;
  if (metrics_.size() > values_max) forget_all();  // names that nobody asks for any more
  const Numbers numbers = numbers_of(table.metrics);
  for (const std::size_t run : runs) {
    auto& known = run_of(table.runs[run]).values;
    if (known.empty()) known.reserve(numbers.size());
    for (std::size_t metric = 0; metric < numbers.size(); ++metric) {
      const bool is_there =
          std::any_of(known.begin(), known.end(), [&](const auto& entry) { return entry.first == numbers[metric]; });
      if (is_there) continue;
      known.emplace_back(numbers[metric], table.row(run)[metric]);
      ++count_;
    }
  }
  while (count_ > values_max) forget_first();
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

KnownValues::Run& KnownValues::run_of(const std::string& id) {
  if (const auto place = places_.find(id); place != places_.end()) return *place->second;
  const auto run = runs_.insert(runs_.end(), Run{std::pmr::string(id, &pool_), now_(), decltype(Run::values)(&pool_)});
  places_.emplace(run->id, run);
  return *run;
}

void KnownValues::forget_first() {
  count_ -= runs_.front().values.size();
  places_.erase(runs_.front().id);
  runs_.pop_front();
}

void KnownValues::forget_all() {
  metrics_.clear();
  places_.clear();
  runs_.clear();
  count_ = 0;
}

}  // namespace traceweir::store
