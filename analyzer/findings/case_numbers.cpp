#include "analyzer/findings/case_numbers.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace traceweir::findings {

std::optional<double> measured(const Case& seen, std::string_view metric) {
  for (const metrics::Measurement& measurement : seen.measures.measurements)
    if (measurement.metric == metric && measurement.value) return as_double(*measurement.value);
  return std::nullopt;
}

double device_time_ns(const Case& seen) {
  if (!seen.view.window) return 0;
  return static_cast<double>(seen.view.window->span.length().count()) * static_cast<double>(seen.view.devices.size());
}

double idle_ratio(const Case& seen, IdleCause cause) {
  double sum = 0;
  for (const IdleCauses& device : seen.attribution.idle) {
    const auto found = device.causes.find(cause);
    if (found != device.causes.end()) sum += static_cast<double>(found->second.count());
  }
  const double whole = device_time_ns(seen);
  return whole > 0 ? sum / whole : 0;
}

std::optional<IdleCause> largest_idle_cause(const Case& seen) {
  constexpr IdleCause causes[] = {IdleCause::input, IdleCause::sync, IdleCause::launch, IdleCause::dependency,
                                  IdleCause::unknown};
  const auto largest = std::max_element(std::begin(causes), std::end(causes), [&](IdleCause a, IdleCause b) {
    return idle_ratio(seen, a) < idle_ratio(seen, b);
  });
  if (idle_ratio(seen, *largest) <= 0) return std::nullopt;
  return *largest;
}

std::int64_t steps_or_one(const Case& seen) {
  if (!seen.view.window) return 1;
  return std::max<std::int64_t>(seen.view.window->steps.value_or(1), 1);
}

double per_step_and_device(const Case& seen, double sum) {
  const auto devices = static_cast<double>(std::max<std::size_t>(seen.view.devices.size(), 1));
  return sum / static_cast<double>(steps_or_one(seen)) / devices;
}

InSteps::InSteps(const Case& seen)
    : window_(seen.view.window ? seen.view.window->span : Interval{}), marked_(!seen.view.steps.empty()) {
  std::vector<Interval> hosts;
  for (const metrics::Step& step : seen.view.steps) hosts.push_back(step.host);
  steps_ = timeline::IntervalSet::union_of(std::move(hosts));
}

bool InSteps::operator()(const timeline::Call& call) const {
  if (!window_.contains(call.begin)) return false;
  if (!marked_) return true;
  const auto parts = steps_.parts();
  const auto part =
      std::partition_point(parts.begin(), parts.end(), [&](const Interval& p) { return p.end <= call.begin; });
  return part != parts.end() && part->contains(call.begin);
}

}  // namespace traceweir::findings
