// For: what every process that analyses is made of, a service and a worker alike: the locked-in children, and the queue
// that they get their jobs from. Not for: HTTP (service.hpp), waiting for signals (worker.hpp).
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "sandbox/sandbox.hpp"
#include "server/analysis/analysis.hpp"
#include "server/app/config.hpp"
#include "server/pipeline/run_queue.hpp"

namespace traceweir::app {

/// Threads that each wait for one analysing child. A service that leaves analyses to others has one, for files that
/// somebody only wants to look at.
unsigned analysis_threads(const Config& config);

/// How this process takes part in the store's queue. `process`: what no other one calls itself.
pipeline::QueueSettings queue_settings(const Config& config, const std::string& process);

/// Starts a child to find out what it can lock itself in with, and holds every later child to that. From then on
/// children are forked from one start of our own program; one that was configured (a wrapper) is started each time.
/// Errors: bad_config (required and not there), io_failed (the program cannot be started).
Result<sandbox::Parts> settle_sandbox(analysis::Analysis& analysis, const Config& config);

/// `run` empty: the queue itself.
void log_run_error(const std::string& run, std::string_view code, const std::string& detail);

store::Timestamp now();

}  // namespace traceweir::app
