// For: a process that only analyses, beside services on the same store and the same traces. It listens to nobody but
// those who watch it (monitoring.hpp).
// Not for: serving (service.hpp).
#pragma once

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"

namespace traceweir::app {

/// Takes jobs until SIGTERM or SIGINT; then it gives back at once what it has.
/// Errors: bad_config (a store that is for one process; analysis_workers = none; worker_listen), store_unavailable,
/// io_failed,
///         disk_full: it did not start.
Result<void> work(const Config& config);

}  // namespace traceweir::app
