// For: sending a request again while the service may come back. Not for: requests that must be sent once only.
#pragma once

#include "analyzer/core/error.hpp"
#include "cli/client.hpp"

namespace traceweir::cli {

/// Sends until the service answers, at most five times within the client's retry_time_max after the first failure, with
/// pauses that grow and scatter (many jobs that wait for one service do not come back at once). The request must be one
/// that is safe to send again: an idempotency key makes an upload so. Errors: those of Client::send.
Result<ClientAnswer> send_with_patience(const Client& client, const ClientRequest& request);

}  // namespace traceweir::cli
