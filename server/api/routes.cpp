#include "server/api/routes.hpp"

#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"

namespace traceweir::api {
namespace {

using http::Verb;

Result<void> admits_admin(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(admin, authorize_admin(request, services));
  static_cast<void>(admin);
  return {};
}

constexpr http::Route<Services> table[] = {
    {Verb::post, "/api/v1/projects/{project}/runs", &post_run},
    {Verb::get, "/api/v1/projects/{project}/runs", &on_worker<&get_runs>},
    {Verb::get, "/api/v1/projects/{project}/runs/{run}", &on_worker<&get_run>},
    {Verb::del, "/api/v1/projects/{project}/runs/{run}", &on_transfer<&delete_run>},
    {Verb::post, "/api/v1/projects/{project}/runs/{run}/finish", &finish_run},
    {Verb::get, "/api/v1/projects/{project}/runs/{run}/replay", &on_worker<&get_replay>},
    {Verb::get, "/api/v1/projects/{project}/runs/{run}/traces/{rank}", &on_transfer<&get_trace>},
    {Verb::post, "/api/v1/projects/{project}/runs/{run}/accept",
     &on_worker_with_body<&admits<Right::admin>, &post_acceptance>},
    {Verb::del, "/api/v1/projects/{project}/runs/{run}/accept", &on_worker<&delete_acceptance>},
    {Verb::get, "/api/v1/projects/{project}/acceptances", &on_worker<&get_acceptances>},
    {Verb::put, "/api/v1/projects/{project}/commits", &on_worker_with_body<&admits<Right::upload>, &put_commits>},
    {Verb::get, "/api/v1/projects/{project}/commits/{sha}", &on_worker<&get_commit>},
    {Verb::get, "/api/v1/projects/{project}/history", &on_worker<&get_history>},
    {Verb::get, "/api/v1/projects/{project}/badge.svg", &on_worker<&get_badge>},
    {Verb::get, "/api/v1/projects/{project}/compare", &on_worker<&get_comparison>},
    {Verb::get, "/api/v1/projects/{project}/policy", &on_worker<&get_policy>},
    {Verb::put, "/api/v1/projects/{project}/policy", &on_worker_with_body<&admits<Right::admin>, &put_policy>},
    {Verb::post, "/api/v1/projects/{project}/policy/check",
     &on_worker_with_body<&admits<Right::read>, &post_policy_check>},
    {Verb::post, "/api/v1/projects/{project}/policy/backtest", &post_backtest},
    {Verb::get, "/api/v1/projects/{project}/policies/{sha256}", &on_worker<&get_kept_policy>},
    {Verb::put, "/api/v1/projects/{project}/policies/{sha256}",
     &on_worker_with_body<&admits<Right::upload>, &put_sent_policy>},
    {Verb::get, "/api/v1/projects", &on_worker<&get_projects>},
    {Verb::put, "/api/v1/projects/{project}", &on_worker_with_body<&admits_admin, &put_project>},
    {Verb::del, "/api/v1/projects/{project}", &on_transfer<&delete_project>},
    {Verb::get, "/api/v1/projects/{project}/audit", &on_worker<&get_audit>},
    {Verb::post, "/api/v1/projects/{project}/oidc/token", &post_oidc_token},
    {Verb::get, "/api/v1/tokens", &on_worker<&get_tokens>},
    {Verb::post, "/api/v1/tokens", &on_worker_with_body<&admits_token_admin, &post_token>},
    {Verb::del, "/api/v1/tokens/{token}", &on_worker<&delete_token>},
    {Verb::post, "/api/v1/tokens/{token}/rotate", &on_worker_with_body<&admits_token_admin, &post_rotation>},
    {Verb::post, "/api/v1/analyze", &post_analyze},
    {Verb::get, "/openapi.json", &get_contract},
};

constexpr http::Route<Services> monitoring_table[] = {
    {Verb::get, "/healthz", &get_health},
    {Verb::get, "/readyz", &on_worker<&get_ready>},
    {Verb::get, "/metrics", &on_worker<&get_metrics>},
};

}  // namespace

std::span<const http::Route<Services>> routes() { return table; }
std::span<const http::Route<Services>> monitoring_routes() { return monitoring_table; }

}  // namespace traceweir::api
