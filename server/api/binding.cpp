#include "server/api/binding.hpp"

#include <fmt/format.h>

#include "server/oidc/job.hpp"

namespace traceweir::api {
namespace {

tl::unexpected<Error> contradicts(const oidc::Job& job, std::string_view what) {
  return fail(ErrorCode::forbidden,
              fmt::format("this token was issued to a job of {} at {}; {}", job.repository, job.ref, what));
}

}  // namespace

Result<void> check_binding(const std::string& binding, const store::RunHead& head) {
  if (binding.empty()) return {};
  const auto json = wire::parse_json(binding);
  const auto job = json ? oidc::job_from(*json) : Result<oidc::Job>(fail(ErrorCode::internal, ""));
  if (!job) return fail(ErrorCode::internal, "the token's binding cannot be read");
  const bool is_own = !job->branch.empty();
  if (is_own && !head.branch.empty() && head.branch != job->branch)
    return contradicts(*job, fmt::format("branch: expected '{}', not '{}'", job->branch, head.branch));
  if (is_own) return {};
  if (!head.pull_request && !head.fork)
    return contradicts(*job, "it measures a change, so its uploads state pr or fork=true");
  if (job->pull_request && head.pull_request && *head.pull_request != *job->pull_request)
    return contradicts(*job, fmt::format("pr: expected {}", *job->pull_request));
  return {};
}

}  // namespace traceweir::api
