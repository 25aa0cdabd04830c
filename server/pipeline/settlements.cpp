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

/// The newer one of the same series and policy, together with those before it. Metrics of the newer one come first.
void merge(Unsettled& before, Unsettled newer) {
  std::move(newer.runs.begin(), newer.runs.end(), std::back_inserter(before.runs));
  newer.runs = std::move(before.runs);
  for (auto& [metric, info] : before.metrics)
    if (newer.metrics.size() < analysed_metrics_max) newer.metrics.try_emplace(metric, std::move(info));
  before = std::move(newer);
}

}  // namespace

Settlements::Coming::Coming(Settlements& settlements, std::string project, Settle settle)
    : settlements_(settlements), project_(std::move(project)), settle_(std::move(settle)) {
  settlements_.come(project_);
}

Settlements::Expected::Expected(Settlements& settlements, std::string project)
    : settlements_(settlements), project_(std::move(project)) {
  settlements_.come(project_);
}

Settlements::Expected::~Expected() { settlements_.go(project_); }

Settlements::Coming::~Coming() { settlements_.leave(project_, settle_); }

void Settlements::Coming::add(Unsettled unsettled) {
  const store::RunHead& head = unsettled.head;
  const std::string series = key_of(
      {head.workload, head.branch, unsettled.walked.result.comparable_key, unsettled.measured.chosen.policy.text});
  const std::lock_guard lock(settlements_.mutex_);
  add_to(settlements_.projects_[project_].waiting, series, std::move(unsettled));
}

void Settlements::add_to(Waiting& waiting, const std::string& series, Unsettled newer) {
  if (const auto before = waiting.find(series); before != waiting.end())
    merge(before->second, std::move(newer));
  else
    waiting.emplace(series, std::move(newer));
}

std::vector<std::string> Settlements::overdue() {
  std::vector<std::string> overdue;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, project] : projects_)
    if (project.is_overdue()) overdue.push_back(name);
  return overdue;
}

void Settlements::come(const std::string& project) {
  const std::lock_guard lock(mutex_);
  ++projects_[project].coming;
}

void Settlements::go(const std::string& project) {
  const std::lock_guard lock(mutex_);
  const auto found = projects_.find(project);
  const Project& left = found->second;
  if (--found->second.coming == 0 && left.waiting.empty() && !left.is_settled_now) projects_.erase(found);
}

/// Whoever leaves settles what is due, until nothing is, or another one has come that will.
void Settlements::leave(const std::string& project, const Settle& settle) {
  {
    const std::lock_guard lock(mutex_);
    --projects_.at(project).coming;
  }
  while (auto due = take_due(project)) {
    Waiting left = settled(*std::move(due), settle);
    const bool is_whole = left.empty();
    note_settled(project, std::move(left));
    if (!is_whole) return;  // it is overdue, and tried again
  }
}

void Settlements::settle_all(const Settle& settle) {
  std::vector<Waiting> all;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, project] : projects_) all.push_back(std::exchange(project.waiting, {}));
  }
  for (Waiting& waiting : all) settled(std::move(waiting), settle);
}

Settlements::Waiting Settlements::settled(Waiting due, const Settle& settle) {
  std::erase_if(due, [&settle](const auto& entry) { return settle(entry.second) == Settled::yes; });
  return due;
}

/// Nothing: there is none, somebody is at it and looks again afterwards, or somebody comes who will be.
std::optional<Settlements::Waiting> Settlements::take_due(const std::string& project) {
  const std::lock_guard lock(mutex_);
  const auto found = projects_.find(project);
  if (found == projects_.end() || found->second.is_settled_now) return std::nullopt;
  Project& here = found->second;
  if (here.waiting.empty() || here.may_lag()) {
    if (here.coming == 0) projects_.erase(found);
    return std::nullopt;
  }
  here.is_settled_now = true;
  return std::exchange(here.waiting, {});
}

void Settlements::note_settled(const std::string& project, Waiting left) {
  const std::lock_guard lock(mutex_);
  Project& here = projects_.at(project);
  here.failed = left.empty() ? 0 : here.failed + 1;
  for (auto& [series, newer] : std::exchange(here.waiting, std::move(left)))
    add_to(here.waiting, series, std::move(newer));
  here.is_settled_now = false;
  here.settled_at = Clock::now();
}

}  // namespace traceweir::pipeline
