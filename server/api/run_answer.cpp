#include "server/api/run_answer.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace traceweir::api {

wire::RunDocument document_of(const store::RunRecord& run) {
  wire::RunDocument document;
  document.id = run.head.id;
  document.project = run.head.project;
  document.workload = run.head.workload;
  document.commit = run.head.commit;
  document.branch = run.head.branch;
  document.base_branch = run.head.base_branch;
  document.head = run.head.head;
  document.base = run.head.base;
  document.pull_request = run.head.pull_request;
  document.fork = run.head.fork;
  document.attempt = run.head.attempt;
  document.job = run.head.job;
  document.matrix = run.head.matrix;
  document.job_url = run.head.job_url;
  document.status = store::word(run.status);
  document.uploaded_at = run.head.received_at;
  document.environment = run.head.environment;
  document.verdict_json = run.verdict_json;
  document.report_json = run.report_json;
  if (!run.error_code.empty())
    document.error = Error{error_code_of(run.error_code).value_or(ErrorCode::internal), run.error_message};
  return document;
}

std::optional<gate::Outcome> outcome_of(std::span<const store::RunRecord> oldest_first) {
  std::map<std::string, gate::Outcome> latest;
  for (const store::RunRecord& run : oldest_first)
    if (run.outcome) latest[run.head.workload] = *run.outcome;
  std::optional<gate::Outcome> worst;
  for (const auto& [workload, outcome] : latest) worst = worst ? std::max(*worst, outcome) : outcome;
  return worst;
}

}  // namespace traceweir::api
