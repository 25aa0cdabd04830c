// For: a token of minutes that the service gives a CI job for the id token of its CI, so that no secret has to be kept
// there. Not for: what the service makes of it (docs/ci.md).
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "cli/ci_facts.hpp"
#include "cli/client.hpp"
#include "cli/connection.hpp"

namespace traceweir::cli {

/// What the gate shows the service, in words: the variable, and what becomes of it. Empty: there is nothing to show.
std::string credential_of(const Variables& variables);

/// Whether there is an id token to be had and no token of the service's own.
bool wants_job_token(const Variables& variables);

/// The same client with the token that the service gives for the CI's id token: GitHub is asked for one
/// (ACTIONS_ID_TOKEN_REQUEST_URL), GitLab has put it into TRACEWEIR_OIDC_TOKEN. It is made for the audience
/// TRACEWEIR_OIDC_AUDIENCE, without it for the service's URL.
/// Errors: unauthorized, forbidden (the service says why), usage (a request URL that is none), and those of the client.
Result<Client> with_job_token(const Client& client, const ConnectionOptions& options, const Variables& variables);

}  // namespace traceweir::cli
