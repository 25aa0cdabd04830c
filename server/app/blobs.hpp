// For: the place where blobs are kept, as the configuration says. Not for: the places (server/spool, server/s3).
#pragma once

#include <memory>

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"
#include "server/spool/blob_store.hpp"

namespace traceweir::app {

/// Whether the keys come to a place, and there are credentials for it. Errors: bad_config.
Result<void> check_blobs(const Config& config);

/// Does not speak to a place elsewhere yet: a service starts while that is away, and says so in /readyz.
/// Errors: bad_config, io_failed, disk_full.
Result<std::unique_ptr<spool::BlobStore>> open_blobs(const Config& config);

}  // namespace traceweir::app
