// For: the CI job that an id token speaks of, in words that are the same for every CI, and which jobs a project trusts.
// Source: GitHub "OpenID Connect reference", GitLab "OpenID Connect (OIDC) ID token" (claims). Not for: signatures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/wire/json.hpp"

namespace traceweir::oidc {

enum class Ci { github, gitlab };

struct Job {
  std::string issuer;
  std::string repository;     ///< `acme/llama`
  std::string repository_id;  ///< stays when a repository is renamed
  std::string ref;            ///< `refs/heads/main`
  std::string environment;    ///< of a deployment; empty: none
  std::string run;            ///< the CI's id
  /// The branch whose own code ran, or the whole name of the tag (`refs/tags/v1`), which no branch has. Empty: a change
  /// that is proposed, or an event that may run a stranger's.
  std::string branch;
  /// The commit of `branch` that ran, in lower case. Empty: the CI does not tell; or a change, of which it tells a
  /// merge for the test and not what is proposed.
  std::string commit;
  std::optional<std::int64_t> pull_request;
};

/// What verified claims say. Errors: unauthorized (no repository or ref among them).
Result<Job> job_of(Ci ci, const wire::Json& claims);
/// `v1` of a job that ran a tag's own code; empty: it ran no tag's.
std::string_view tag_of(const Job& job);

/// One kind of jobs that may get a token for a project. Empty fields do not ask for anything.
struct TrustedJob {
  std::string issuer, repository, repository_id, environment;
  std::vector<std::string> refs;  ///< patterns: `*` is any text
};
inline constexpr std::size_t trusted_jobs_max = 16;

bool trusts(const TrustedJob& trusted, const Job& job);
/// `*` stands for any text, also an empty one and one with slashes.
bool matches(std::string_view pattern, std::string_view text);

/// The project's setting. Errors: bad_body, naming the key.
Result<std::vector<TrustedJob>> trusted_jobs_of(const wire::Json& list);
wire::Json to_json(const std::vector<TrustedJob>& jobs);

/// What a token keeps of the job that it was issued to.
wire::Json to_json(const Job& job);
/// Errors: bad_body (it is not what to_json() writes).
Result<Job> job_from(const wire::Json& json);

}  // namespace traceweir::oidc
