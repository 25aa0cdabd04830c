#include "server/pipeline/keeping.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace traceweir::pipeline {
namespace {

using Days = std::chrono::duration<std::int64_t, std::ratio<86'400>>;

constexpr std::int64_t traces_at_once = 100;
constexpr std::chrono::hours day{24};

std::string bytes_text(std::int64_t bytes) {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  return bytes < 10 * mebibyte ? fmt::format("{} bytes", bytes) : fmt::format("{} MiB", bytes / mebibyte);
}

std::string time_text(std::chrono::seconds time) {
  return time % Days{1} == std::chrono::seconds{0} ? fmt::format("{} days", time / Days{1})
                                                   : fmt::format("{} s", time.count());
}

Result<bool> remove(store::Store& store, spool::BlobStore& blobs, const store::TraceRemoval& removal) {
  TRACEWEIR_TRY(removed, store.remove_trace(removal));
  if (removed) release_blobs(store, blobs, {removal.trace.sha256});
  return removed;
}

/// Of one project.
struct Expiry {
  store::Store& store;
  spool::BlobStore& blobs;
  const std::string& project;
  KeepingLimits limits;
  store::Timestamp now;
  const std::function<bool()>& stops;
};

Result<std::size_t> expire_old(const Expiry& expiry) {
  if (expiry.limits.trace_retention.count() == 0) return std::size_t{0};
  const std::string why = "older than trace_retention = " + time_text(expiry.limits.trace_retention);
  std::size_t removed = 0;
  for (;;) {
    TRACEWEIR_TRY(traces, expiry.store.removable_traces(
                              {expiry.project, expiry.now - expiry.limits.trace_retention, traces_at_once}));
    const std::size_t before = removed;
    for (const store::KeptTrace& trace : traces) {
      if (expiry.stops()) return removed;
      TRACEWEIR_TRY(gone, remove(expiry.store, expiry.blobs, {trace, expiry.now, why}));
      removed += std::size_t{gone};
    }
    if (removed == before) return removed;
  }
}

Result<std::size_t> expire_excess(const Expiry& expiry) {
  const std::int64_t most = expiry.limits.trace_bytes_max;
  if (most == 0) return std::size_t{0};
  TRACEWEIR_TRY(usage, expiry.store.usage({expiry.project, expiry.now, ""}));
  const std::string why = "the oldest of more than trace_bytes_max = " + bytes_text(most);
  std::int64_t excess = usage.stored_bytes - most;
  std::size_t removed = 0;
  while (excess > 0) {
    TRACEWEIR_TRY(traces, expiry.store.removable_traces({expiry.project, expiry.now, traces_at_once}));
    const std::size_t before = removed;
    for (const store::KeptTrace& trace : traces) {
      if (excess <= 0 || expiry.stops()) return removed;
      TRACEWEIR_TRY(gone, remove(expiry.store, expiry.blobs, {trace, expiry.now, why}));
      excess -= gone ? trace.bytes : 0;
      removed += std::size_t{gone};
    }
    if (removed == before) break;  // all that is left is of failed, accepted or unfinished runs
  }
  return removed;
}

std::string what_to_do(const store::Project& project) {
  return fmt::format(
      "wait until older traces go, delete runs, or let an administrator raise it: PUT /api/v1/projects/{} "
      "with \"quota\"",
      project.name);
}

/// Of an upload whose idempotency key is known.
Allowance as_before(std::int64_t bytes) {
  return {bytes, Error{ErrorCode::key_reused, fmt::format("Idempotency-Key: it came with a body of {} before, and this "
                                                          "one has more; send another body under another key",
                                                          bytes_text(bytes))}};
}

Allowance what_is_left(const store::Project& project, std::int64_t stored_bytes, std::int64_t bytes_max) {
  const std::int64_t left = std::max<std::int64_t>(bytes_max - stored_bytes, 0);
  return {left,
          Error{ErrorCode::quota_exceeded,
                fmt::format("the project's traces have {}, and its quota quota_bytes_max is {}: {} (left for this "
                            "upload: {})",
                            bytes_text(stored_bytes), bytes_text(bytes_max), what_to_do(project), bytes_text(left))}};
}

}  // namespace

KeepingLimits limits_of(const store::Project& project, const KeepingLimits& service) {
  const store::Keeping& own = project.keeping;
  KeepingLimits limits = service;
  if (own.trace_days) limits.trace_retention = Days{*own.trace_days};
  limits.trace_bytes_max = own.trace_bytes_max.value_or(service.trace_bytes_max);
  limits.quota_bytes_max = own.stored_bytes_max.value_or(service.quota_bytes_max);
  limits.quota_uploads_per_day = own.uploads_per_day_max.value_or(service.quota_uploads_per_day);
  return limits;
}

Result<Allowance> check_quota(store::Store& store, const KeepingLimits& service, const Wanted& wanted) {
  const store::Project& project = wanted.project;
  const KeepingLimits limits = limits_of(project, service);
  if (limits.quota_bytes_max == 0 && limits.quota_uploads_per_day == 0) return Allowance{};
  TRACEWEIR_TRY(usage, store.usage({project.name, wanted.now - day, wanted.idempotency_key}));
  if (!usage.key_bytes && limits.quota_uploads_per_day != 0 && usage.uploads >= limits.quota_uploads_per_day)
    return fail(ErrorCode::too_many_uploads,
                fmt::format("the project has sent {} uploads in the last 24 hours, and its quota "
                            "quota_uploads_per_day is {}: send fewer, or let an administrator raise it: PUT "
                            "/api/v1/projects/{} with \"quota\"",
                            usage.uploads, limits.quota_uploads_per_day, project.name));
  if (!usage.key_bytes && limits.quota_bytes_max == 0) return Allowance{};
  const Allowance allowance =
      usage.key_bytes ? as_before(*usage.key_bytes) : what_is_left(project, usage.stored_bytes, limits.quota_bytes_max);
  if (allowance.bytes_left == 0 || wanted.announced_bytes > allowance.bytes_left)
    return tl::unexpected(*allowance.why_not_more);
  return allowance;
}

Result<std::size_t> expire_traces(store::Store& store, spool::BlobStore& blobs, const KeepingLimits& service,
                                  store::Timestamp now, const std::function<bool()>& stops) {
  TRACEWEIR_TRY(projects, store.projects());
  std::size_t removed = 0;
  for (const store::Project& project : projects) {
    const Expiry expiry{store, blobs, project.name, limits_of(project, service), now, stops};
    TRACEWEIR_TRY(old, expire_old(expiry));
    TRACEWEIR_TRY(excess, expire_excess(expiry));
    removed += old + excess;
  }
  return removed;
}

void release_blobs(store::Store& store, spool::BlobStore& blobs, const std::vector<std::string>& sha256s) {
  const auto is_referred_to = [&store](std::string_view sha256) {
    const auto used = store.blob_in_use(sha256);
    return !used || *used;  // in doubt it stays
  };
  for (const std::string& sha256 : sha256s)
    if (const auto removed = blobs.remove(sha256, is_referred_to); !removed) return;
}

}  // namespace traceweir::pipeline
