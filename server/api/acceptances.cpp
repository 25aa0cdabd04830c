#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "analyzer/core/text.hpp"
#include "analyzer/report/report.hpp"
#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/run_answer.hpp"
#include "server/pipeline/settle.hpp"
#include "server/wire/acceptance.hpp"

namespace traceweir::api {
namespace {

/// The run's values of the metrics that are accepted: the accepted levels.
Result<std::map<std::string, double>> accepted_values(const report::Report& report,
                                                      const wire::AcceptanceRequest& request) {
  std::map<std::string, double> measured;
  for (const metrics::RunMeasurement& row : report.measurements) {
    const metrics::Measurement based = metrics::in_base_unit(row.mean);
    if (based.value) measured[based.metric] = as_double(*based.value);
  }
  if (request.every_metric && measured.empty()) return fail(ErrorCode::bad_body, "metrics: the run measures none");
  if (request.every_metric) return measured;
  std::map<std::string, double> accepted;
  for (const std::string& metric : request.metrics) {
    const auto value = measured.find(metric);
    if (value == measured.end())
      return fail(ErrorCode::bad_body, fmt::format("metrics: the run does not measure '{}'", clean_text(metric, 64)));
    accepted.insert(*value);
  }
  return accepted;
}

/// Who is said to have accepted it: as the client says, else the token's note, else its id.
Result<std::string> author_of(const wire::AcceptanceRequest& request, const Caller& caller, Services& services) {
  if (request.author && !request.author->empty()) return *request.author;
  TRACEWEIR_TRY(token, services.store.token(caller.token));
  return token && !token->note.empty() ? token->note : caller.token;
}

/// A run without a verdict has no level, and one that a later attempt took the place of has no followers.
Result<void> check_acceptable(const store::RunRecord& run) {
  if (run.status != store::RunStatus::judged)
    return fail(ErrorCode::conflict, fmt::format("the run has no verdict: it is {}", store::word(run.status)));
  if (run.superseded)
    return fail(ErrorCode::conflict, "a later attempt of the same job took the place of this run: accept that one");
  return {};
}

/// Runs of that level are looked at again. The acceptance is kept already: a store that is away now costs no more than
/// that the next run does it.
void settle(Services& services, const std::string& project, const std::string& run) {
  const auto settled = pipeline::settle_acceptance(services.store, project, run, services.now());
  if (!settled) services.meters.run_error(word(settled.error().code));
}

}  // namespace

wire::AcceptanceDocument document_of(const store::Acceptance& acceptance) {
  wire::AcceptanceDocument document;
  document.id = acceptance.id;
  document.run = acceptance.run;
  document.commit = acceptance.commit;
  document.workload = acceptance.workload;
  document.every_metric = acceptance.every_metric;
  if (!acceptance.every_metric)
    for (const auto& [metric, value] : acceptance.values) document.metrics.push_back(metric);
  document.reason = acceptance.reason;
  document.author = acceptance.author;
  document.created_at = acceptance.created_at;
  document.until = acceptance.until;
  document.undone_at = acceptance.undone_at;
  document.undone_by = acceptance.undone_by;
  return document;
}

/// POST /api/v1/projects/{project}/runs/{run}/accept   body: {metrics, reason, until?, author?}
/// 201 the acceptance: from that run on its level is the baseline of these metrics
Result<http::Response> post_acceptance(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::admin));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(asked, wire::acceptance_request_from_json(body));
  TRACEWEIR_TRY(run, run_in(services, caller.project.name, request.param("run")));
  TRACEWEIR_TRY_VOID(check_acceptable(run));
  TRACEWEIR_TRY(report, report::from_json(run.report_json));
  TRACEWEIR_TRY(values, accepted_values(report, asked));
  TRACEWEIR_TRY(author, author_of(asked, caller, services));
  const store::Timestamp now = services.now();
  if (asked.until && *asked.until <= now) return fail(ErrorCode::bad_body, "until: a time to come was expected");
  store::Acceptance acceptance;
  acceptance.id = services.new_id();
  acceptance.project = caller.project.name;
  acceptance.run = run.head.id;
  acceptance.commit = run.head.commit;
  acceptance.workload = run.head.workload;
  acceptance.every_metric = asked.every_metric;
  acceptance.values = std::move(values);
  acceptance.reason = asked.reason;
  acceptance.author = author;
  acceptance.token = caller.token;
  acceptance.created_at = now;
  acceptance.until = asked.until;
  const std::string text = wire::to_json(document_of(acceptance));
  TRACEWEIR_TRY_VOID(services.store.accept(acceptance, {now, caller.project.name, caller.token, "accepted", text}));
  settle(services, caller.project.name, run.head.id);
  return http::respond(http::Status::created, json_type, text);
}

/// DELETE /api/v1/projects/{project}/runs/{run}/accept
/// 204: what is accepted of the run is undone; it stays in the list and in the audit
Result<http::Response> delete_acceptance(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::admin));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(run, run_in(services, caller.project.name, request.param("run")));
  const store::Timestamp now = services.now();
  const store::Undoing undoing{caller.project.name, run.head.id, now, caller.token};
  TRACEWEIR_TRY(undone, services.store.undo_acceptances(undoing, {now, caller.project.name, caller.token,
                                                                  "acceptance_undone", "run " + run.head.id}));
  static_cast<void>(undone);
  settle(services, caller.project.name, run.head.id);
  return http::respond(http::Status::no_content, "", "");
}

/// GET /api/v1/projects/{project}/acceptances
/// 200 {acceptances}, newest first, also those that were undone
Result<http::Response> get_acceptances(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(acceptances, services.store.acceptances({.project = caller.project.name}));
  std::vector<wire::AcceptanceDocument> documents;
  for (const store::Acceptance& acceptance : acceptances) documents.push_back(document_of(acceptance));
  return http::respond(http::Status::ok, json_type, wire::to_json(documents));
}

}  // namespace traceweir::api
