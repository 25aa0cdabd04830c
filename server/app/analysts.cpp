#include "server/app/analysts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "server/app/log.hpp"

namespace traceweir::app {

unsigned analysis_threads(const Config& config) {
  const unsigned wanted = config.analysis_workers.value_or(1);
  return wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

pipeline::QueueSettings queue_settings(const Config& config, const std::string& process) {
  using Analyses = pipeline::QueueSettings::Analyses;
  return {process, config.job_lease, config.resume_pause, config.queue_depth_max,
          config.analysis_workers ? Analyses::here : Analyses::elsewhere};
}

Result<sandbox::Parts> settle_sandbox(analysis::Analysis& analysis, const Config& config) {
  TRACEWEIR_TRY(parts, analysis.demand_sandbox());
  if (config.analysis_program.empty()) TRACEWEIR_TRY_VOID(analysis.fork_early());
  const bool whole = parts.seccomp && parts.landlock_abi > 0;
  if (!whole && config.sandbox == SandboxNeed::required)
    return fail(ErrorCode::bad_config,
                fmt::format("sandbox = required, but the analysing child has {}; give the service a kernel (and a "
                            "container) with seccomp and Landlock, or set sandbox = best_effort",
                            sandbox::describe(parts)));
  if (!whole)
    log(LogLevel::warning, "sandbox_incomplete",
        {{"active", sandbox::describe(parts)},
         {"detail",
          "uploads are read by a process that is not locked in as it should be: limits on time and memory "
          "hold, but a flaw in a reader could reach this host's files or network"}});
  return parts;
}

void log_run_error(const std::string& run, std::string_view code, const std::string& detail) {
  const std::string error(code);
  if (run.empty()) return log(LogLevel::warning, "queue_failed", {{"error", error}, {"detail", detail}});
  log(LogLevel::error, "run_failed", {{"run", run}, {"error", error}, {"detail", detail}});
}

store::Timestamp now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

}  // namespace traceweir::app
