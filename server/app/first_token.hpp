// For: the administrator's token of a service that has none yet.
// Not for: other tokens (commands.hpp).
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "server/store/store.hpp"

namespace traceweir::app {

/// A store without an administrator of the whole service, however many tokens of projects there are, gets one; of
/// several services that start at once on it, one makes it. Its text is written beside `path` (mode 0600) before the
/// store knows it, and gets that name afterwards, so that no crash leaves a token that nobody can read: what a crash
/// left in between gets it at the next start. One that was revoked stays gone. Whether one was made. Errors: io_failed,
/// disk_full, internal, and what the store says.
Result<bool> make_first_token(store::Store& store, const std::string& path, store::Timestamp now);

}  // namespace traceweir::app
