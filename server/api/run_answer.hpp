// For: stored runs as documents and answers of the API. Not for: JSON (wire).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/api/services.hpp"
#include "server/http/response.hpp"
#include "server/store/store.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::api {

wire::RunDocument document_of(const store::RunRecord& run);
wire::AcceptanceDocument document_of(const store::Acceptance& acceptance);

/// Whether a failing verdict is answered as an HTTP error (`fail_status=424`).
enum class FailStatus { created, failed_dependency };

struct AnswerOptions {
  http::Status judged = http::Status::created;
  FailStatus fail_status = FailStatus::created;
  std::vector<std::string> warnings;
};

/// The answer for a run as it stands: judged, 202 on its way or waiting for ranks, or the reason why it was rejected.
http::Response answer_of(const store::RunRecord& run, const AnswerOptions& options);

/// A run that is waited for. `done`: what tells its end, where that is known already; else it is looked for.
struct Awaited {
  std::string project, run;
  std::shared_ptr<pipeline::Completion> done;
};

/// Waits until the run has a result or the time is up, wherever it is analysed. Returns how it stands then.
/// Errors: not_found (no such run in the project), store_unavailable.
boost::asio::awaitable<Result<store::RunRecord>> result_of(Services& services, Awaited awaited,
                                                           std::chrono::seconds wait);

/// Errors: not_found, store_unavailable.
Result<store::RunRecord> run_in(Services& services, const std::string& project, const std::string& run);

/// The outcome of a commit: the latest verdict of each workload, the worst over workloads. Superseded runs do not
/// count. A workload whose latest run has no verdict makes it inconclusive at best: absence of data is never a pass.
/// Nothing: no run has a verdict, and some may still get one; or there is no run.
std::optional<gate::Outcome> outcome_of(std::span<const store::RunRecord> oldest_first);

}  // namespace traceweir::api
