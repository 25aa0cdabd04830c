// For: the handlers of all resources, one .cpp file each; routes.cpp holds their table. What each answers stands above
// its definition. Not for: HTTP itself (server/http).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/api/services.hpp"

namespace traceweir::api {

// runs
boost::asio::awaitable<http::Response> post_run(http::Request& request, Services& services);
boost::asio::awaitable<http::Response> finish_run(http::Request& request, Services& services);
/// Errors: bad_query, and those of authorize().
Result<http::Response> get_runs(const http::Request& request, Services& services);
/// Errors: not_found, and those of authorize().
Result<http::Response> get_run(const http::Request& request, Services& services);
/// Errors: not_found, conflict (no verdict, or none that can be replayed), and those of authorize().
Result<http::Response> get_replay(const http::Request& request, Services& services);
/// Errors: not_found, trace_removed, bad_query, and those of authorize().
Result<http::Response> get_trace(const http::Request& request, Services& services);

/// Errors: not_found, and those of authorize().
Result<http::Response> delete_run(const http::Request& request, Services& services);

// acceptances
/// Errors: not_found, bad_body, conflict (the run has no verdict), and those of authorize().
Result<http::Response> post_acceptance(const http::Request& request, const std::string& body, Services& services);
/// Errors: not_found (no such run, or nothing of it is accepted), and those of authorize().
Result<http::Response> delete_acceptance(const http::Request& request, Services& services);
/// Errors: those of authorize().
Result<http::Response> get_acceptances(const http::Request& request, Services& services);

// commits
/// Errors: bad_body, and those of authorize().
Result<http::Response> put_commits(const http::Request& request, const std::string& body, Services& services);
/// Errors: bad_query, and those of authorize().
Result<http::Response> get_commit(const http::Request& request, Services& services);

// history
/// Errors: bad_query, and those of authorize().
Result<http::Response> get_history(const http::Request& request, Services& services);

/// Errors: bad_query, and those of authorize().
Result<http::Response> get_badge(const http::Request& request, Services& services);

/// Errors: bad_query, not_found, conflict (a run without a report), and those of authorize().
Result<http::Response> get_comparison(const http::Request& request, Services& services);

// policy
/// Errors: those of authorize().
Result<http::Response> get_policy(const http::Request& request, Services& services);
/// Errors: bad_policy, upload_too_large, and those of authorize().
Result<http::Response> put_policy(const http::Request& request, const std::string& body, Services& services);

/// Errors: bad_query (not a hash), not_found, and those of authorize().
Result<http::Response> get_kept_policy(const http::Request& request, Services& services);
/// Errors: bad_query (not a hash), hash_mismatch, bad_policy, and those of authorize().
Result<http::Response> put_sent_policy(const http::Request& request, const std::string& body, Services& services);

/// Errors: bad_query, bad_policy, and those of authorize().
Result<http::Response> post_policy_check(const http::Request& request, const std::string& body, Services& services);
boost::asio::awaitable<http::Response> post_backtest(http::Request& request, Services& services);

// projects
/// Errors: those of authenticate().
Result<http::Response> get_projects(const http::Request& request, Services& services);
/// Errors: bad_query (the name), bad_body, and those of authorize_admin().
Result<http::Response> put_project(const http::Request& request, const std::string& body, Services& services);
/// Errors: not_found, and those of authorize_admin().
Result<http::Response> delete_project(const http::Request& request, Services& services);
/// Errors: those of authorize().
Result<http::Response> get_audit(const http::Request& request, Services& services);

// tokens
/// Errors: those of authorize_token_admin().
Result<http::Response> get_tokens(const http::Request& request, Services& services);
/// Errors: bad_body, not_found (no such project), forbidden (another project than the caller's), and those of
///         authorize_token_admin().
Result<http::Response> post_token(const http::Request& request, const std::string& body, Services& services);
/// Errors: not_found, and those of authorize_token_admin().
Result<http::Response> delete_token(const http::Request& request, Services& services);
/// Errors: not_found, bad_body, conflict (it is not valid any more), and those of authorize_token_admin().
Result<http::Response> post_rotation(const http::Request& request, const std::string& body, Services& services);
boost::asio::awaitable<http::Response> post_oidc_token(http::Request& request, Services& services);

// analyze
boost::asio::awaitable<http::Response> post_analyze(http::Request& request, Services& services);

// health
boost::asio::awaitable<http::Response> get_health(http::Request& request, Services& services);
/// Errors: none; a service that is not ready answers 503 with what is missing.
Result<http::Response> get_ready(const http::Request& request, Services& services);
boost::asio::awaitable<http::Response> get_contract(http::Request& request, Services& services);
/// Errors: none.
Result<http::Response> get_metrics(const http::Request& request, Services& services);

}  // namespace traceweir::api
