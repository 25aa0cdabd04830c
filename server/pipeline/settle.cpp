#include "server/pipeline/settle.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "gate/metric_facts.hpp"
#include "server/pipeline/baseline.hpp"
#include "server/pipeline/judging.hpp"
#include "server/pipeline/policy_choice.hpp"
#include "server/pipeline/series_levels.hpp"
#include "server/store/run_group.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::pipeline {
namespace {

/// How often a series that changes meanwhile is read again. Who changed it settles it too, so giving up loses nothing.
constexpr int tries_max_of_series = 3;

store::SeriesKey key_of(const SeriesCause& cause) {
  return {cause.project.name, cause.head.workload, baseline_branch(cause.head, cause.policy), cause.comparable_key};
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

/// Runs of one commit, oldest first: in the baseline together or not at all. They are the series' own, which has
/// thousands of them.
using CommitRuns = std::vector<const store::SeriesRun*>;

/// Judges the runs of a commit again, together. What is found of the newest holds for all.
Result<void> reconsider(store::Store& store, const SeriesCause& cause, const CommitRuns& runs) {
  TRACEWEIR_TRY(newest, membership_of(store, cause.project, runs.back()->run, cause.now, cause.recent));
  std::vector<store::Membership> changed;
  for (const store::SeriesRun* run : runs)
    if (newest.in_baseline != run->counts || !newest.leans_on.empty())
      changed.push_back({run->run, newest.in_baseline, newest.leans_on});
  return changed.empty() ? Result<void>{} : store.put_memberships(changed);
}

/// Commits of the series, oldest first, each in the light of those before it.
Result<void> reconsider(store::Store& store, const SeriesCause& cause, const std::vector<CommitRuns>& commits) {
  for (const CommitRuns& runs : commits) TRACEWEIR_TRY_VOID(reconsider(store, cause, runs));
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

using Metrics = std::map<std::string, MetricInfo>;

/// Reads, finds and keeps, again where the series changed in between. `verdict_with` empty: no verdict changes.
Result<std::vector<Notice>> keep_levels(store::Store& store, const SeriesCause& cause, const Metrics& metrics,
                                        std::optional<store::Series> known, const VerdictWith& verdict_with) {
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

/// The series by commits, in the order of their first runs.
std::vector<CommitRuns> commits_of(const std::vector<store::SeriesRun>& runs) {
  std::vector<CommitRuns> commits;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const store::SeriesRun& run : runs) {
    const auto [place, is_new] = places.try_emplace(run.commit, commits.size());
    if (is_new) commits.emplace_back();
    commits[place->second].push_back(&run);
  }
  return commits;
}

bool holds(const CommitRuns& runs, const std::string& id) {
  return std::any_of(runs.begin(), runs.end(), [&id](const store::SeriesRun* run) { return run->run == id; });
}

/// Those of the runs that were judged when the run had its result, and itself.
std::set<std::string_view> that_knew(std::span<const FinishedRun> runs, const FinishedRun& run) {
  std::set<std::string_view> known{run.id};
  for (const FinishedRun& other : runs)
    if (other.judged_from > run.finished) known.insert(other.id);
  return known;
}

/// The first commit that is to be looked at again for the run: those after its own are, and its own where others of its
/// runs are to follow what was found with it, but not where all of a commit's runs knew it.
std::ptrdiff_t first_concerned(const std::vector<CommitRuns>& commits, std::span<const FinishedRun> runs,
                               const FinishedRun& run) {
  const std::set<std::string_view> known = that_knew(runs, run);
  const auto own =
      std::find_if(commits.begin(), commits.end(), [&](const CommitRuns& all) { return holds(all, run.id); });
  const auto first = std::find_if(own, commits.end(), [&known](const CommitRuns& all) {
    return !std::all_of(all.begin(), all.end(), [&](const store::SeriesRun* one) { return known.contains(one->run); });
  });
  return first - commits.begin();
}

/// The commits that are to be looked at again for any of the runs, and all after these: they were judged by what is
/// looked at again. Nothing of runs that are not of the series (superseded).
std::vector<CommitRuns> concerned_by(const store::Series& series, std::span<const FinishedRun> runs) {
  std::vector<CommitRuns> commits = commits_of(series.runs);
  std::ptrdiff_t first = std::ssize(commits);
  for (const FinishedRun& run : runs) first = std::min(first, first_concerned(commits, runs, run));
  commits.erase(commits.begin(), commits.begin() + first);
  if (commits.size() > reconsidered_commits_max) commits.resize(reconsidered_commits_max);
  return commits;
}

/// The commits with a run that was received after this, or with that run's own time.
std::vector<CommitRuns> received_after(const store::Series& series, store::Timestamp time) {
  std::vector<CommitRuns> commits = commits_of(series.runs);
  std::erase_if(commits, [time](const CommitRuns& runs) {
    return std::all_of(runs.begin(), runs.end(),
                       [time](const store::SeriesRun* run) { return run->received_at < time; });
  });
  if (commits.size() > reconsidered_commits_max) commits.resize(reconsidered_commits_max);
  return commits;
}

/// The commits from an accepted level's on whose runs do not all count.
std::vector<CommitRuns> failed_since(const store::Series& series, std::size_t place) {
  std::vector<CommitRuns> commits = commits_of(series.runs);
  const std::string& first = series.runs[place].run;
  commits.erase(commits.begin(), std::find_if(commits.begin(), commits.end(),
                                              [&first](const CommitRuns& runs) { return holds(runs, first); }));
  std::erase_if(commits, [](const CommitRuns& runs) {
    return std::all_of(runs.begin(), runs.end(), [](const store::SeriesRun* run) { return run->counts; });
  });
  if (commits.size() > reconsidered_commits_max) commits.resize(reconsidered_commits_max);
  return commits;
}

}  // namespace

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
      info->better = side_of(cause.policy, rule.metric, info->better);
      metrics.emplace(rule.metric, *info);
    }
  return metrics;
}

Result<std::vector<Notice>> settle_runs(store::Store& store, const SettledRuns& settled,
                                        const VerdictWith& verdict_with) {
  TRACEWEIR_TRY(series, read_series(store, settled.newest, settled.metrics));
  const std::vector<CommitRuns> concerned = concerned_by(series, settled.runs);
  TRACEWEIR_TRY_VOID(reconsider(store, settled.newest, concerned));
  std::optional<store::Series> known = std::move(series);
  if (!concerned.empty()) known.reset();  // it is read anew, and two of them would be large
  return keep_levels(store, settled.newest, settled.metrics, std::move(known), verdict_with);
}

Result<std::vector<Notice>> settle_run(store::Store& store, const SeriesCause& cause, const VerdictWith& verdict_with) {
  return settle_runs(store, {cause, {{cause.head.id}}, analysed_metrics(cause)}, verdict_with);
}

namespace {

/// What the deleted run had taken the place of stands again, where it would without it.
Result<void> restore_attempts_of(store::Store& store, const store::Project& project, const store::RunRecord& deleted,
                                 store::Timestamp now) {
  const store::RunHead& head = deleted.head;
  TRACEWEIR_TRY(records, store.runs_of_commit(head.project, head.workload, head.commit, store::Documents::none));
  std::vector<store::Membership> restored;
  for (const store::RunRecord& record : records) {
    if (record.superseded || record.status != store::RunStatus::judged || !store::supersedes(head, record.head))
      continue;
    TRACEWEIR_TRY(membership, membership_of(store, project, record.head.id, now, nullptr));
    restored.push_back(std::move(membership));
  }
  return restored.empty() ? Result<void>{} : store.put_memberships(restored);
}

}  // namespace

Result<void> settle_deletion(store::Store& store, const store::RunRecord& run, store::Timestamp now) {
  if (run.report_json.empty()) return {};  // it was in no series
  TRACEWEIR_TRY(project, store.project(run.head.project));
  if (!project) return {};
  TRACEWEIR_TRY(report, report::from_json(run.report_json));
  TRACEWEIR_TRY(chosen, choose_policy(*project, run.head));
  const SeriesCause cause{*project, run.head, report, chosen.policy, run.comparable_key, now};
  TRACEWEIR_TRY_VOID(restore_attempts_of(store, *project, run, now));
  TRACEWEIR_TRY(series, read_series(store, cause, {}));
  TRACEWEIR_TRY_VOID(reconsider(store, cause, received_after(series, run.head.received_at)));
  TRACEWEIR_TRY(notices, keep_levels(store, cause, analysed_metrics(cause), std::nullopt, {}));
  static_cast<void>(notices);
  return {};
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
  if (const auto place = in_force.empty() ? std::nullopt : place_in(series.runs, in_force.front()))
    TRACEWEIR_TRY_VOID(reconsider(store, cause, failed_since(series, *place)));
  TRACEWEIR_TRY(notices, keep_levels(store, cause, analysed_metrics(cause), std::nullopt, {}));
  static_cast<void>(notices);
  return {};
}

}  // namespace traceweir::pipeline
