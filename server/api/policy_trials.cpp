#include "gate/policy_words.hpp"
#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/query_values.hpp"
#include "server/hash/sha256.hpp"
#include "server/pipeline/past_runs.hpp"
#include "server/wire/policy_answers.hpp"

namespace traceweir::api {
namespace {

/// The policy of the body, else the one in force on the server. Errors: bad_policy.
Result<gate::Policy> policy_in(const std::string& body, const store::Project& project) {
  const std::string& text = body.empty() ? project.policy : body;
  if (text.empty()) return gate::built_in_policy();
  return gate::parse_policy(text);
}

/// The branch is the query's, else the policy's, else main. Errors: bad_query.
Result<pipeline::LaneName> lane_in(const http::Query& query, const store::Project& project,
                                   const gate::Policy& policy) {
  TRACEWEIR_TRY(workload, query.one("workload"));
  TRACEWEIR_TRY(branch, query.one("branch"));
  const std::string stated = policy.workload.empty() ? "default" : policy.workload;
  return pipeline::LaneName{project.name, workload.value_or(stated),
                            branch.value_or(policy.baseline.branch.value_or("main"))};
}

/// Errors: those of authorize(), bad_query, bad_policy, and those of the store.
Result<http::Response> backtest(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({"workload", "branch", "since", "limit"}));
  TRACEWEIR_TRY(policy, policy_in(body, caller.project));
  TRACEWEIR_TRY(lane, lane_in(request.query, caller.project, policy));
  TRACEWEIR_TRY(since, time_in(request.query, "since"));
  const std::int64_t most = services.limits.backtest_runs_max;
  TRACEWEIR_TRY(limit, integer_in(request.query, "limit", 1, most));
  TRACEWEIR_TRY(answer, pipeline::backtest_past(services.store, {lane, policy, since, limit.value_or(most)}));
  return http::respond(http::Status::ok, json_type,
                       wire::to_json(wire::BacktestDocument{hash::sha256_hex(policy.text), std::move(answer.backtest),
                                                            std::move(answer.notes)}));
}

}  // namespace

/// POST /api/v1/projects/{project}/policy/check?workload=&branch=   body: TOML; empty: the policy in force
/// 200 what it would do to the next run, by today's baseline
Result<http::Response> post_policy_check(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({"workload", "branch"}));
  TRACEWEIR_TRY(policy, policy_in(body, caller.project));
  TRACEWEIR_TRY(lane, lane_in(request.query, caller.project, policy));
  TRACEWEIR_TRY(rules, pipeline::outlook_for(services.store, lane, policy, services.now()));
  return http::respond(http::Status::ok, json_type,
                       wire::to_json(wire::OutlookDocument{std::move(rules), gate::in_words(policy)}));
}

/// POST /api/v1/projects/{project}/policy/backtest?workload=&branch=&since=&limit=   body: as above
/// 200 what it would have said about the stored runs. Takes seconds: it has threads of its own.
boost::asio::awaitable<http::Response> post_backtest(http::Request& request, Services& services) {
  auto admission = [&request, &services] { return admits<Right::read>(request, services); };
  if (auto admitted = co_await services.workers.run(admission); !admitted)
    co_return http::problem(std::move(admitted).error());
  auto body = co_await http::read_small(*request.body, services.limits.small_body_bytes_max);
  if (!body) co_return http::problem(std::move(body).error());
  auto work = [&request, &services, &body] { return backtest(request, *body, services); };
  auto response = co_await services.trials.run(work);
  if (!response) co_return http::problem(std::move(response).error());
  co_return *std::move(response);
}

}  // namespace traceweir::api
