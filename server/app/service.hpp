// For: the service put together, from the outside in: configuration → parts → a listener that runs until a signal.
// Not for: the command line (commands.hpp).
#pragma once

#include <filesystem>

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"

namespace traceweir::app {

/// The program that analyses uploads: the configured one, else the one beside us.
/// Errors: bad_config (it cannot be run), io_failed (we do not find ourselves).
Result<std::filesystem::path> program_of(const Config& config);

/// Serves until SIGTERM or SIGINT, then lets requests in flight finish (stop_time_max).
/// Shape:  on the first start an administrator's token is written to DATA_DIR/admin-token (mode 0600); the log names
/// the
///         path and never the token.
/// Errors: bad_config (address, port, program), store_unavailable, io_failed, disk_full: the service did not start.
Result<void> serve(const Config& config);

}  // namespace traceweir::app
