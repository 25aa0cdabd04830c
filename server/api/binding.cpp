#include "server/api/binding.hpp"

#include <fmt/format.h>

#include "server/oidc/job.hpp"

namespace traceweir::api {
namespace {

tl::unexpected<Error> contradicts(const oidc::Job& job, std::string_view what) {
  return fail(ErrorCode::forbidden,
              fmt::format("this token was issued to a job of {} at {}; {}", job.repository, job.ref, what));
}

/// Errors: internal.
Result<oidc::Job> job_in(const std::string& binding) {
  const auto json = wire::parse_json(binding);
  auto job = json ? oidc::job_from(*json) : Result<oidc::Job>(fail(ErrorCode::internal, ""));
  if (!job) return fail(ErrorCode::internal, "the token's binding cannot be read");
  return job;
}

/// Errors: forbidden.
Result<void> check_job(const oidc::Job& job, const store::RunHead& head) {
  const bool is_own = !job.branch.empty();
  if (is_own && !head.branch.empty() && head.branch != job.branch)
    return contradicts(job, fmt::format("branch: expected '{}', not '{}'", job.branch, head.branch));
  if (is_own && !job.commit.empty() && head.commit != job.commit)
    return contradicts(job, fmt::format("commit: expected {}", job.commit));
  if (is_own) return {};
  if (!head.pull_request && !head.fork)
    return contradicts(job, "it measures a change, so its uploads state pr or fork=true");
  if (job.pull_request && head.pull_request && *head.pull_request != *job.pull_request)
    return contradicts(job, fmt::format("pr: expected {}", *job.pull_request));
  return {};
}

}  // namespace

Result<void> apply_binding(const std::string& binding, store::RunHead& head) {
  if (binding.empty()) return {};
  TRACEWEIR_TRY(job, job_in(binding));
  if (!head.branch.empty() && head.branch == oidc::tag_of(job)) head.branch = job.branch;
  return check_job(job, head);
}

Result<void> check_binding(const std::string& binding, const store::RunHead& head) {
  if (binding.empty()) return {};
  TRACEWEIR_TRY(job, job_in(binding));
  return check_job(job, head);
}

Result<void> keep_commits(store::Store& store, const Caller& caller, std::span<const store::Commit> commits) {
  if (caller.binding.empty()) return store.put_commits(caller.project.name, commits);
  TRACEWEIR_TRY(job, job_in(caller.binding));
  return job.branch.empty() ? store.propose_commits(caller.project.name, commits)
                            : store.put_commits(caller.project.name, commits);
}

}  // namespace traceweir::api
