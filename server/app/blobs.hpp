// For: the place where blobs are kept, as the configuration says. Not for: the places (server/spool, server/s3).
#pragma once

#include <memory>

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"
#include "server/spool/blob_store.hpp"
#include "server/store/store.hpp"

namespace traceweir::app {

/// Whether the keys come to a place, and there are credentials for it. Errors: bad_config.
Result<void> check_blobs(const Config& config);

/// Does not speak to a place elsewhere yet: a service starts while that is away, and says so in /readyz.
/// Errors: bad_config, io_failed, disk_full.
Result<std::unique_ptr<spool::BlobStore>> open_blobs(const Config& config);
/// The same, for a service: while the place has another store's traces, or none of this one's, its verbs answer
/// store_unavailable. Errors: also those of the store.
Result<std::unique_ptr<spool::BlobStore>> open_blobs_of(store::Store& store, const Config& config);

}  // namespace traceweir::app
