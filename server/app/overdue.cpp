#include "server/app/overdue.hpp"

#include "server/app/log.hpp"

namespace traceweir::app {

Result<void> close_overdue(store::Store& store, pipeline::RunQueue& runs, std::chrono::seconds run_complete_max,
                           WaitingTimes& waiting) {
  TRACEWEIR_TRY(unfinished, store.unfinished_runs());
  for (const store::RunRecord& run : unfinished) {
    const bool waits = run.status == store::RunStatus::pending && !run.closed;
    if (!waits || waiting.of(run.head.id, run.head.received_at) < run_complete_max) continue;
    TRACEWEIR_TRY(status, store.close_run(run.head.project, run.head.id));
    log(LogLevel::info, "run_closed", {{"run", run.head.id}, {"project", run.head.project}});
    if (status == store::RunStatus::analysing) runs.poke();
  }
  return {};
}

}  // namespace traceweir::app
