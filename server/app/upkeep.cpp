#include "server/app/upkeep.hpp"

#include <fmt/format.h>

#include <string>

#include "server/app/log.hpp"

namespace traceweir::app {
namespace {

void tell(const char* event, std::string_view what, std::int64_t count) {
  if (count > 0) log(LogLevel::info, event, {{std::string(what), fmt::format("{}", count)}});
}

/// Blobs that no run refers to.
Result<void> sweep_blobs(const Household& house) {
  const auto is_referred_to = [&](std::string_view sha256) {
    const auto used = house.store.blob_in_use(sha256);
    return !used || *used;  // in doubt it stays
  };
  TRACEWEIR_TRY(orphans, house.blobs.sweep(is_referred_to, spool::sweep_age));
  tell("swept", "blobs", static_cast<std::int64_t>(orphans));
  return {};
}

Result<void> expire(const Household& house) {
  TRACEWEIR_TRY(traces, pipeline::expire_traces(house.store, house.blobs, house.limits, house.now(), house.stops));
  tell("expired", "traces", static_cast<std::int64_t>(traces));
  return {};
}

Result<void> expire_values(const Household& house) {
  if (house.limits.measurement_retention.count() == 0) return {};
  return house.store.drop_measurements_before(house.now() - house.limits.measurement_retention);
}

template <typename Done>
void log_failure(const char* event, const Done& done) {
  if (!done) log(LogLevel::warning, event, {{"detail", done.error().message}});
}

}  // namespace

Result<void> sweep_parts(const spool::Spool& spool, std::chrono::seconds age) {
  TRACEWEIR_TRY(parts, spool.sweep(age));
  tell("swept", "parts", static_cast<std::int64_t>(parts));
  return {};
}

void sweep_left_overs(const spool::Spool& spool) { log_failure("sweep_failed", sweep_parts(spool, stale_after)); }

/// A place that is away now is looked after an hour later.
void look_after(const Household& household) {
  sweep_left_overs(household.spool);
  log_failure("expire_failed", expire(household));
  log_failure("expire_failed", expire_values(household));
  log_failure("sweep_failed", sweep_blobs(household));
  log_failure("sweep_failed", household.store.remove_issued_tokens(household.now()));  // of jobs that have ended
}

}  // namespace traceweir::app
