// For: what a token that was issued to a CI job may say of its uploads, of runs and of commits: nothing that its
// issuer's word contradicts. Not for: issuing it (oidc_token.cpp).
#pragma once

#include <span>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/api/auth.hpp"
#include "server/store/store.hpp"

namespace traceweir::api {

/// A job that ran a branch's own code measures for that branch only; one that ran a tag's measures for the tag, which
/// gets its whole name here (clients give `v1` as the branch), so that it is never a branch of the same name. Every
/// other job measures a change: its uploads are of a pull request or of a fork, which never enter a baseline, and of
/// its own pull request where that is known. Of a branch's or tag's job the commit is its own, where the CI tells it.
/// `binding` empty: any upload. Errors: forbidden, saying what was stated and what the job is; internal (the binding is
/// not what we wrote).
Result<void> apply_binding(const std::string& binding, store::RunHead& head);

/// The same of a run that is there: whether the token might have uploaded it. Errors: as above.
Result<void> check_binding(const std::string& binding, const store::RunHead& head);

/// Keeps what a client tells of commits. By the word of a job that measures a change it is a proposal.
/// Errors: those of the store; internal (the binding is not what we wrote).
Result<void> keep_commits(store::Store& store, const Caller& caller, std::span<const store::Commit> commits);

}  // namespace traceweir::api
