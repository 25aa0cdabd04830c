#include "server/store/postgres_database.hpp"

#include "server/store/postgres_migrate.hpp"
#include "server/store/postgres_settings.hpp"

namespace traceweir::store {
namespace {

constexpr std::string_view unknown_commit =
    "store: the connection was lost while the change was committed, so it may or may not have been made; ask again "
    "(an upload with the same Idempotency-Key)";

}  // namespace

// From here on: the lock of the service.

Result<void> PostgresServiceLock::hold() {
  const std::lock_guard guard(mutex_);
  if (is_held()) return {};
  holder_.reset();
  auto holder = std::make_unique<PostgresConnection>(address_);
  try {
    holder->begin(Access::writing, lock_settings());
    holder->query("SELECT pg_advisory_xact_lock($1::bigint)", service_lock_key);
  } catch (const PostgresFailure& failure) {
    if (failure.fault() != PostgresFault::unavailable) throw;
    return fail(ErrorCode::store_unavailable, "store: another service is using this database");
  }
  holder_ = std::move(holder);
  return {};
}

bool PostgresServiceLock::is_held() const {
  if (!holder_) return false;
  try {
    holder_->query("SELECT 1");
    return true;
  } catch (const PostgresFailure&) {
    return false;
  }
}

// From here on: the database.

PostgresDatabase::PostgresDatabase(std::string address, Opening opening)
    : address_(std::move(address)),
      begin_reading_(transaction_settings(Access::reading)),
      begin_writing_(transaction_settings(Access::writing)) {
  if (opening == Opening::service) service_lock_ = std::make_unique<PostgresServiceLock>(address_);
  for (int i = 0; i < PostgresLimits::connections; ++i) slots_.add(std::make_unique<Slot>());
}

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::open(const std::string& address, Opening opening) {
  try {
    std::unique_ptr<PostgresDatabase> database(new PostgresDatabase(address, opening));
    TRACEWEIR_TRY_VOID(database->prepare());
    return database;
  } catch (const PostgresFailure& failure) {
    return tl::unexpected(error_of(failure));
  }
}

Result<void> PostgresDatabase::prepare() {
  if (service_lock_) TRACEWEIR_TRY_VOID(service_lock_->hold());
  PostgresConnection connection(address_);
  return migrate_postgres(connection, postgres_migrations());
}

/// A connection breaks with the server, and so does the lock: before anything is written again, it is looked after.
Result<void> PostgresDatabase::connect(Slot& slot) {
  if (service_lock_) TRACEWEIR_TRY_VOID(service_lock_->hold());
  slot.connection = std::make_unique<PostgresConnection>(address_);
  return {};
}

Result<void> PostgresDatabase::ready() {
  return read([this](PostgresConnection& connection) -> Result<void> {
    if (connection.query("SELECT version FROM schema_version LIMIT 1").count() == 0)
      return fail(ErrorCode::store_unavailable, "store: the database has no schema any more");
    return service_lock_ ? service_lock_->hold() : Result<void>{};
  });
}

tl::unexpected<Error> PostgresDatabase::busy() {
  return fail(ErrorCode::store_unavailable, "store: busy, no connection became free");
}

/// A connection that broke while it lay idle is only noticed now: that is tried once more, on a new one.
bool PostgresDatabase::may_repeat(const PostgresFailure& failure, int tries) {
  if (failure.fault() == PostgresFault::connection_lost) return tries == 1;
  return failure.fault() == PostgresFault::again && tries < PostgresLimits::tries;
}

Error PostgresDatabase::error_of(const PostgresFailure& failure) {
  const std::string message = "store: " + std::string(failure.what());
  switch (failure.fault()) {
    case PostgresFault::in_doubt:
      return {ErrorCode::store_unavailable, std::string(unknown_commit)};
    case PostgresFault::disk_full:
      return {ErrorCode::disk_full, message};
    case PostgresFault::unstorable_text:
      return {ErrorCode::bad_query, message};
    case PostgresFault::refused:
      return {ErrorCode::internal, message};
    case PostgresFault::again:
      return {ErrorCode::store_unavailable, message};
    default:
      return {ErrorCode::store_unavailable, "store: the database cannot be reached: " + std::string(failure.what())};
  }
}

}  // namespace traceweir::store
