// For: what a token that was issued to a CI job may say of its uploads: nothing that its issuer's word contradicts.
// Not for: issuing it (oidc_token.cpp).
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "server/store/store.hpp"

namespace traceweir::api {

/// A job that ran a branch's own code measures for that branch only. Every other job measures a change: its uploads are
/// of a pull request or of a fork, which never enter a baseline, and of its own pull request where that is known.
/// `binding` empty: any upload.
/// Errors: forbidden, saying what was stated and what the job is; internal (the binding is not what we wrote).
Result<void> check_binding(const std::string& binding, const store::RunHead& head);

}  // namespace traceweir::api
