#include "gate/cost.hpp"

#include <fmt/format.h>

#include <cmath>

namespace traceweir::gate {
namespace {

std::int64_t gpus_of(const report::Report& report) {
  std::int64_t gpus = 0;
  for (const report::RankReport& rank : report.ranks) gpus += rank.environment.gpu_count;
  return gpus;
}

/// Two decimals, as prices have; small ones keep three digits.
std::string money(double amount) {
  return std::abs(amount) >= 0.1 || amount == 0 ? fmt::format("{:.2f}", amount) : fmt::format("{:.3g}", amount);
}

std::string sentence_of(const Cost& cost) {
  std::string text =
      fmt::format("Of {} an hour for {} GPU{}, {} are idle time", money(cost.gpu_hour * static_cast<double>(cost.gpus)),
                  cost.gpus, cost.gpus == 1 ? "" : "s", money(cost.idle_per_hour));
  if (cost.exposed_per_hour)
    text += fmt::format(" and {} exposed communication and copies", money(*cost.exposed_per_hour));
  if (!cost.delta_per_hour) return text + ".";
  const char* side = *cost.delta_per_hour > 0 ? "more" : "less";
  return text + fmt::format("; {} {} an hour than the baseline.", money(std::abs(*cost.delta_per_hour)), side);
}

}  // namespace

std::optional<double> waiting_share(const RunSide& run) {
  double sum = 0;
  for (const char* metric : waiting_metrics) {
    const auto share = run.value(metric);
    if (!share) return std::nullopt;
    sum += *share;
  }
  return sum;
}

std::optional<Cost> cost_of(const RunSide& run, double gpu_hour, std::optional<double> waiting_before) {
  const auto idle = run.value("gpu.idle");
  Cost cost;
  cost.gpus = gpus_of(run.report());
  if (!idle || cost.gpus == 0) return std::nullopt;
  const double price = gpu_hour * static_cast<double>(cost.gpus);
  const std::optional<double> waiting = waiting_share(run);
  cost.gpu_hour = gpu_hour;
  cost.idle_per_hour = *idle * price;
  if (waiting) cost.exposed_per_hour = (*waiting - *idle) * price;
  if (waiting && waiting_before) cost.delta_per_hour = (*waiting - *waiting_before) * price;
  cost.sentence = sentence_of(cost);
  return cost;
}

}  // namespace traceweir::gate
