#include "server/pipeline/settle.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "gate/metric_facts.hpp"
#include "server/pipeline/baseline.hpp"
#include "server/pipeline/judging.hpp"
#include "server/pipeline/policy_choice.hpp"
#include "server/pipeline/series_levels.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::pipeline {
namespace {

/// How often a series that changes meanwhile is read again. Who changed it settles it too, so giving up loses nothing.
constexpr int tries_max_of_series = 3;

store::SeriesKey key_of(const SeriesCause& cause) {
  return {cause.project.name, cause.head.workload, baseline_branch(cause.head, cause.policy), cause.comparable_key};
}

/// Every gated metric and the built-in ones, each with its unit and better side.
std::map<std::string, MetricInfo> analysed_metrics(const SeriesCause& cause) {
  std::vector<std::string> measured;
  std::map<std::string, metrics::Measurement> rows;
  for (const metrics::RunMeasurement& row : cause.report.measurements) {
    measured.push_back(row.mean.metric);
    rows[row.mean.metric] = metrics::in_base_unit(row.mean);
  }
  std::map<std::string, MetricInfo> metrics;
  for (const gate::Policy* policy : {&cause.policy, &gate::built_in_policy()})
    for (const gate::Rule& rule : gate::rules_for(*policy, measured)) {
      auto info = gate::metric_info(rule.metric);
      if (!info || metrics.size() == analysed_metrics_max) continue;
      if (const auto row = rows.find(rule.metric); is_custom(rule.metric) && row != rows.end())
        info->unit = row->second.unit, info->better = row->second.better;
      const Better stated = side_of(cause.policy, rule.metric);
      if (stated != Better::none) info->better = stated;
      metrics.emplace(rule.metric, *info);
    }
  return metrics;
}

Result<store::Series> read_series(store::Store& store, const SeriesCause& cause,
                                  const std::map<std::string, MetricInfo>& metrics) {
  store::SeriesQuery query;
  query.key = key_of(cause);
  for (const auto& [metric, info] : metrics) query.metrics.push_back(metric);
  query.now = cause.now;
  if (!metrics.empty()) query.limit = std::min(query.limit, analysed_values_max / std::ssize(query.metrics));
  return store.series(query);
}

/// Judges runs of the series again, oldest first, each in the light of those before it.
Result<void> reconsider(store::Store& store, const SeriesCause& cause, const std::vector<store::SeriesRun>& runs) {
  for (const store::SeriesRun& run : runs) {
    TRACEWEIR_TRY(membership, membership_of(store, cause.project, run.run, cause.now));
    if (membership.in_baseline == run.counts && membership.leans_on.empty()) continue;
    TRACEWEIR_TRY_VOID(store.put_memberships(std::span(&membership, 1)));
  }
  return {};
}

/// What was found, and what of it is news.
struct Findings {
  store::SeriesLevels levels;
  std::vector<Notice> notices;
};

Result<Findings> findings_of(store::Store& store, const SeriesCause& cause, const store::Series& series,
                             const std::map<std::string, MetricInfo>& metrics) {
  TRACEWEIR_TRY(acceptances, store.acceptances({.project = cause.project.name,
                                                .workload = cause.head.workload,
                                                .comparable_key = cause.comparable_key,
                                                .in_force_at = cause.now}));
  Findings findings;
  findings.levels.key = key_of(cause);
  findings.levels.version = series.version;
  const auto epoch = wire::from_rfc3339(cause.policy.baseline.epoch);
  for (const auto& [metric, info] : metrics) {
    SeriesAnswer answer = levels_of({series, metric, info.better, cause.policy.baseline.min_runs, epoch, acceptances});
    for (const store::StoredChange& drift : answer.drifts) {
      findings.levels.told[metric].push_back(drift.run);
      findings.notices.push_back({Notice::Kind::drift, cause.project.name, cause.head.workload,
                                  findings.levels.key.branch, drift.run, drift.commit, metric,
                                  drift_sentence(metric, info.unit, drift)});
    }
    findings.levels.changes[metric] = std::move(answer.changes);
    findings.levels.segments[metric] = std::move(answer.segments);
  }
  return findings;
}

/// Reads, finds and keeps, again where the series changed in between. `verdict_with` empty: no verdict changes.
Result<std::vector<Notice>> keep_levels(store::Store& store, const SeriesCause& cause,
                                        std::optional<store::Series> known, const VerdictWith& verdict_with) {
  const auto metrics = analysed_metrics(cause);
  for (int tries = 1;; ++tries) {
    if (!known) {
      TRACEWEIR_TRY(series, read_series(store, cause, metrics));
      known = std::move(series);
    }
    if (known->runs.empty()) return std::vector<Notice>{};
    TRACEWEIR_TRY(findings, findings_of(store, cause, *known, metrics));
    if (!verdict_with && !findings.notices.empty()) findings.levels.told.clear(), findings.notices.clear();
    std::vector<std::string> notes;
    for (const Notice& notice : findings.notices) notes.push_back(notice.sentence);
    if (!notes.empty()) findings.levels.run = cause.head.id, findings.levels.verdict_json = verdict_with(notes);
    const auto kept = store.put_levels(findings.levels);
    if (kept) return std::move(findings.notices);
    if (kept.error().code != ErrorCode::conflict) return tl::unexpected(kept.error());
    if (tries == tries_max_of_series) return std::vector<Notice>{};
    known.reset();
  }
}

std::vector<store::SeriesRun> at_most(std::vector<store::SeriesRun> runs) {
  if (runs.size() > reconsidered_runs_max) runs.resize(reconsidered_runs_max);
  return runs;
}

/// Runs whose commits come after that of `run`.
std::vector<store::SeriesRun> runs_after(const store::Series& series, const std::string& run) {
  const auto at = std::find_if(series.runs.begin(), series.runs.end(),
                               [&run](const store::SeriesRun& other) { return other.run == run; });
  if (at == series.runs.end()) return {};
  return at_most({std::next(at), series.runs.end()});
}

}  // namespace

Result<std::vector<Notice>> settle_run(store::Store& store, const SeriesCause& cause, const VerdictWith& verdict_with) {
  TRACEWEIR_TRY(series, read_series(store, cause, analysed_metrics(cause)));
  const std::vector<store::SeriesRun> later = runs_after(series, cause.head.id);
  TRACEWEIR_TRY_VOID(reconsider(store, cause, later));
  return keep_levels(store, cause, later.empty() ? std::optional(std::move(series)) : std::nullopt, verdict_with);
}

Result<void> settle_acceptance(store::Store& store, const std::string& project_name, const std::string& run_id,
                               store::Timestamp now) {
  TRACEWEIR_TRY(project, store.project(project_name));
  TRACEWEIR_TRY(run, store.run(project_name, run_id));
  if (!project || !run) return fail(ErrorCode::not_found, "the run is gone");
  TRACEWEIR_TRY(report, report::from_json(run->report_json));
  TRACEWEIR_TRY(chosen, choose_policy(*project, run->head));
  const SeriesCause cause{*project, run->head, report, chosen.policy, run->comparable_key, now};
  TRACEWEIR_TRY(series, read_series(store, cause, {}));
  TRACEWEIR_TRY(in_force, store.acceptances({.project = project_name, .run = run_id, .in_force_at = now}));
  if (const auto place = in_force.empty() ? std::nullopt : place_in(series.runs, in_force.front())) {
    std::vector<store::SeriesRun> failed;
    std::copy_if(series.runs.begin() + static_cast<std::ptrdiff_t>(*place), series.runs.end(),
                 std::back_inserter(failed), [](const store::SeriesRun& other) { return !other.counts; });
    TRACEWEIR_TRY_VOID(reconsider(store, cause, at_most(std::move(failed))));
  }
  TRACEWEIR_TRY(notices, keep_levels(store, cause, std::nullopt, {}));
  static_cast<void>(notices);
  return {};
}

}  // namespace traceweir::pipeline
