#include "server/pipeline/settlements.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

#include "server/pipeline/settle.hpp"

namespace traceweir::pipeline {
namespace {

/// Parts of a key; no name has a zero byte.
std::string key_of(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) key.append(part).push_back('\0');
  return key;
}

/// The newer one of the same series and policy, together with those before it.
void merge(Unsettled& before, Unsettled newer) {
  std::move(newer.runs.begin(), newer.runs.end(), std::back_inserter(before.runs));
  newer.runs = std::move(before.runs);
  newer.metrics.merge(before.metrics);
  while (newer.metrics.size() > analysed_metrics_max) newer.metrics.erase(std::prev(newer.metrics.end()));
  before = std::move(newer);
}

}  // namespace

Settlements::Coming::Coming(Settlements& settlements, const store::RunHead& head, Settle settle)
    : settlements_(settlements), lane_(key_of({head.project, head.workload, head.branch})), settle_(std::move(settle)) {
  const std::lock_guard lock(settlements_.mutex_);
  ++settlements_.lanes_[lane_].coming;
}

Settlements::Coming::~Coming() { settlements_.leave(lane_, settle_); }

void Settlements::Coming::add(Unsettled unsettled) {
  const std::string series = key_of({unsettled.walked.result.comparable_key, unsettled.measured.chosen.policy.text});
  const std::lock_guard lock(settlements_.mutex_);
  auto& waiting = settlements_.lanes_[lane_].waiting;
  if (const auto before = waiting.find(series); before != waiting.end())
    merge(before->second, std::move(unsettled));
  else
    waiting.emplace(series, std::move(unsettled));
}

/// Whoever leaves settles what is due, until nothing is, or another one has come that will.
void Settlements::leave(const std::string& lane, const Settle& settle) {
  {
    const std::lock_guard lock(mutex_);
    --lanes_.at(lane).coming;
  }
  while (auto due = take_due(lane)) {
    for (auto& [series, unsettled] : *due) settle(unsettled);
    note_settled(lane);
  }
}

/// Nothing: there is none, somebody is at it and looks again afterwards, or somebody comes who will be.
std::optional<std::map<std::string, Unsettled>> Settlements::take_due(const std::string& lane) {
  const std::lock_guard lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || found->second.is_settled_now) return std::nullopt;
  Lane& here = found->second;
  const bool may_lag = here.coming > 0 && Clock::now() - here.settled_at < lag_max;
  if (here.waiting.empty() || may_lag) {
    if (here.coming == 0) lanes_.erase(found);
    return std::nullopt;
  }
  here.is_settled_now = true;
  return std::exchange(here.waiting, {});
}

void Settlements::note_settled(const std::string& lane) {
  const std::lock_guard lock(mutex_);
  Lane& here = lanes_.at(lane);
  here.is_settled_now = false;
  here.settled_at = Clock::now();
}

}  // namespace traceweir::pipeline
