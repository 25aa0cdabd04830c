// For: what goes because it is old or too much (retention), what is refused because it would be too much (quota), and
// what goes because somebody deleted it. Not for: the configuration's keys (server/app).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/spool/blob_store.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// The service's own limits, for projects that set none. 0: no limit.
struct KeepingLimits {
  std::chrono::seconds trace_retention{0};        ///< older traces go
  std::int64_t trace_bytes_max = 0;               ///< of the kept traces of one project; the oldest go
  std::chrono::seconds measurement_retention{0};  ///< values of runs that were received before go
  std::int64_t quota_bytes_max = 0;               ///< of the kept traces of one project; further uploads are refused
  std::int64_t quota_uploads_per_day = 0;         ///< of one project in 24 hours; further ones are refused
};

/// The same with what the project wants of its own.
KeepingLimits limits_of(const store::Project& project, const KeepingLimits& service);

/// How many bytes an upload may have, and what its sender is told where it has more.
struct Allowance {
  std::int64_t bytes_left = 0;
  std::optional<Error> why_not_more{};  ///< nothing: there is no quota
};

/// An upload that wants to come in.
struct Wanted {
  const store::Project& project;
  std::int64_t announced_bytes = 0;  ///< 0: not said
  const std::string& idempotency_key;
  store::Timestamp now;
};

/// Whether the project may have one more upload, and how large it may become. One that is sent again, since its answer
/// was lost, adds nothing and is let in, as large as it was. Uploads at the same time may each be let in: a quota
/// bounds what is kept, not to the byte. Errors: quota_exceeded, too_many_uploads, naming the limit, what is used and
/// what to do; key_reused: it was smaller before; those of the store.
Result<Allowance> check_quota(store::Store& store, const KeepingLimits& service, const Wanted& wanted);

/// Removes traces that are older than their project's limit, then the oldest ones of those that have too much; never
/// those of failed or accepted runs. First the reference, then the blob (spool/blob_store.hpp). Several services may do
/// this at once.
/// Ends early when `stops` says so; the next call goes on.
/// Returns how many went.   Errors: what the store says; what was removed before stays so.   Thread: blocks.
Result<std::size_t> expire_traces(store::Store& store, spool::BlobStore& blobs, const KeepingLimits& service,
                                  store::Timestamp now, const std::function<bool()>& stops);

/// Removes blobs that a deletion left without a reference. One that cannot be removed now, or is young, is left to the
/// sweep. Thread: blocks.
void release_blobs(store::Store& store, spool::BlobStore& blobs, const std::vector<std::string>& sha256s);

}  // namespace traceweir::pipeline
