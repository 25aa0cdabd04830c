// For: a token as a document, for administrators: everything but its secret.
// Not for: making tokens (tokens.hpp).
#pragma once

#include "server/store/store.hpp"
#include "server/wire/json.hpp"

namespace traceweir::api {

/// `{"id", "project", "scopes", "note", "created_at", "expires_at", "revoked_at", "last_used_at", "job", "state"}`;
/// what is not there is null. `state` at `now`: `live`, `expired` or `revoked`.
wire::Json token_document(const store::Token& token, store::Timestamp now);

}  // namespace traceweir::api
