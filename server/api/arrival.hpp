// For: an upload on its way from the socket to its file, and into an analysing child at the same time where that can
// be done: JSON, plain or packed, at a speed that is worth a child.
// Not for: what becomes of it afterwards (post_run.cpp).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <span>

#include "server/api/services.hpp"
#include "server/http/request.hpp"
#include "server/pipeline/early_report.hpp"
#include "server/pipeline/keeping.hpp"
#include "server/spool/spool.hpp"

namespace traceweir::api {

/// Whether an upload that begins like this may be JSON, and is worth reading while it arrives. SQLite seeks.
bool may_be_read_early(std::span<const std::byte> head);

/// Streams the body to the file: it is never held in memory. Gives the analysis that has begun meanwhile, told that all
/// is there; nothing: it is to be read from its file.
/// `project`: whose it is. `reading`: how it would be read; nothing: only from its file.
/// Errors: those of the body and of the spool; that of the allowance.
boost::asio::awaitable<Result<std::shared_ptr<pipeline::EarlyReport>>> receive(
    http::Request& request, spool::IncomingFile& file, Services& services, std::string project,
    std::optional<analysis::AnalysisOptions> reading, pipeline::Allowance allowance);

}  // namespace traceweir::api
