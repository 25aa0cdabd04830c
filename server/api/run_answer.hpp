// For: stored runs as documents of the API. Not for: JSON (wire).
#pragma once

#include <optional>
#include <span>

#include "server/http/response.hpp"
#include "server/store/store.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::api {

wire::RunDocument document_of(const store::RunRecord& run);

/// The outcome of a commit: the latest judged run of each workload, the worst over workloads; nothing without one.
std::optional<gate::Outcome> outcome_of(std::span<const store::RunRecord> oldest_first);

}  // namespace traceweir::api
