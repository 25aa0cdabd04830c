#include "server/pipeline/pinned.hpp"

#include "analyzer/report/report.hpp"
#include "server/pipeline/judging.hpp"

namespace traceweir::pipeline {
namespace {

bool is_usable(const store::RunRecord& run, const store::RunHead& head, const std::string& name,
               const std::string& key) {
  return run.status == store::RunStatus::judged && run.comparable_key == key && !run.superseded &&
         run.head.workload == head.workload && run.head.commit != head.commit && !run.head.fork &&
         (!run.head.pull_request || run.head.id == name);  // whoever proposes a change can name any commit
}

/// Runs that the name may mean, newest first; in lists without their reports.
Result<std::vector<store::RunRecord>> named(store::Store& store, const store::RunHead& head, const std::string& name) {
  TRACEWEIR_TRY(run, store.run(head.project, name));
  if (run) return std::vector{*std::move(run)};
  store::RunFilter filter{.project = head.project, .commit = name, .workload = head.workload, .limit = pinned_runs_max};
  TRACEWEIR_TRY(of_commit, store.runs(filter));
  if (!of_commit.empty()) return std::move(of_commit);
  filter.commit.clear();
  filter.branch = name;
  return store.runs(filter);
}

Result<void> add(store::Store& store, const store::RunRecord& listed, gate::PinnedBaseline& pinned) {
  TRACEWEIR_TRY(run, store.run(listed.head.project, listed.head.id));
  if (!run) return {};
  TRACEWEIR_TRY(report, report::from_json(run->report_json));
  // As the judge sees runs, and as the store keeps their values: in base units.
  for (const metrics::Measurement& measured : judged_run(run->head, report).measurements)
    if (measured.value)
      pinned.series[measured.metric].push_back({run->head.id, run->head.commit, as_double(*measured.value), 0});
  return {};
}

}  // namespace

Result<PinnedRuns> pinned_runs(store::Store& store, const store::RunHead& head, const std::string& name,
                               const std::string& comparable_key) {
  PinnedRuns pinned;
  pinned.baseline.name = name;
  TRACEWEIR_TRY(runs, named(store, head, name));
  for (const store::RunRecord& run : runs) {
    if (!is_usable(run, head, name, comparable_key)) continue;
    if (pinned.commit.empty()) pinned.commit = run.head.commit, pinned.received_at = run.head.received_at;
    TRACEWEIR_TRY_VOID(add(store, run, pinned.baseline));
  }
  return pinned;
}

}  // namespace traceweir::pipeline
