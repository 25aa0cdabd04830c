#include <fmt/format.h>

#include "analyzer/report/report.hpp"
#include "gate/diff.hpp"
#include "gate/policy.hpp"
#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/run_answer.hpp"
#include "server/wire/diff.hpp"
#include "server/wire/explanation_text.hpp"

namespace traceweir::api {
namespace {

/// One of the two runs, read.
struct Side {
  wire::DiffSide facts;
  report::Report report;
};

/// Errors: bad_query (not stated), not_found, conflict (without a report), store_unavailable.
Result<Side> side_in(const http::Request& request, Services& services, const std::string& project,
                     const std::string& key) {
  TRACEWEIR_TRY(id, request.query.one(key));
  if (!id || id->empty()) return fail(ErrorCode::bad_query, fmt::format("{}: missing: the id of a run", key));
  auto run = run_in(services, project, *id);
  if (!run) return fail(run.error().code, fmt::format("{}: {}", key, run.error().message));
  if (run->report_json.empty())
    return fail(ErrorCode::conflict,
                fmt::format("{}: run {} has no report: it is {}", key, *id, store::word(run->status)));
  TRACEWEIR_TRY(report, report::from_json(run->report_json));
  return Side{{run->head.id, run->head.commit, run->head.branch, run->head.workload, {}}, std::move(report)};
}

/// The price in the project's policy, where it is kept on the server.
std::optional<double> price_of(const store::Project& project) {
  if (project.policy.empty()) return std::nullopt;
  const auto policy = gate::parse_policy(project.policy);
  return policy ? policy->gpu_hour : std::nullopt;
}

}  // namespace

/// GET /api/v1/projects/{project}/compare?base=RUN&head=RUN
/// 200 traceweir.diff/1; text/markdown where the client asks for it
Result<http::Response> get_comparison(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({"base", "head"}));
  TRACEWEIR_TRY(base, side_in(request, services, caller.project.name, "base"));
  TRACEWEIR_TRY(head, side_in(request, services, caller.project.name, "head"));
  const wire::DiffDocument document{std::move(base.facts), std::move(head.facts),
                                    gate::diff_of(base.report, head.report, price_of(caller.project))};
  if (request.accepts("text/markdown"))
    return http::respond(http::Status::ok, "text/markdown; charset=utf-8", wire::to_markdown(document));
  return http::respond(http::Status::ok, json_type, wire::to_json(document));
}

}  // namespace traceweir::api
