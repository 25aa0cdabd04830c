#include "server/store/postgres_database.hpp"

#include "server/store/postgres_migrate.hpp"
#include "server/store/postgres_settings.hpp"

namespace traceweir::store {
namespace {

constexpr std::string_view unknown_commit =
    "store: the connection was lost while the change was committed, so it may or may not have been made; ask again "
    "(an upload with the same Idempotency-Key)";

}  // namespace

Error error_of(const PostgresFailure& failure) {
  const std::string message = "store: " + std::string(failure.what());
  switch (failure.fault()) {
    case PostgresFault::in_doubt:
      return {ErrorCode::store_unavailable, std::string(unknown_commit)};
    case PostgresFault::disk_full:
      return {ErrorCode::disk_full, message};
    case PostgresFault::unstorable_text:
      return {ErrorCode::bad_query, message};
    case PostgresFault::gone:
    case PostgresFault::refused:
      return {ErrorCode::internal, message};
    case PostgresFault::again:
      return {ErrorCode::store_unavailable, message};
    default:
      return {ErrorCode::store_unavailable, "store: the database cannot be reached: " + std::string(failure.what())};
  }
}

PostgresDatabase::PostgresDatabase(std::string address) : address_(std::move(address)) {
  for (int i = 0; i < PostgresLimits::connections; ++i) slots_.add(std::make_unique<Slot>());
}

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::open(const std::string& address) {
  try {
    PostgresConnection connection(address);
    TRACEWEIR_TRY_VOID(migrate_postgres(connection, postgres_migrations()));
    return std::unique_ptr<PostgresDatabase>(new PostgresDatabase(address));
  } catch (const PostgresFailure& failure) {
    return tl::unexpected(error_of(failure));
  }
}

/// Where the session is ours, what holds for every transaction was said when it was opened.
void PostgresDatabase::begin(Slot& slot, Kind kind) {
  // What ended the last transaction may have failed after its result was known.
  if (slot.connection && slot.connection->broken()) slot.connection.reset();
  if (!slot.connection) {
    slot.connection = std::make_unique<PostgresConnection>(address_);
    slot.connection->settle(session_settings());
  }
  PostgresConnection& connection = *slot.connection;
  if (!connection.is_settled()) return connection.begin(kind.access, transaction_settings(kind.access));
  if (kind.extent == Extent::single) return connection.begin_single(kind.access);
  connection.begin(kind.access, short_transaction_settings(kind.access));
}

Result<void> PostgresDatabase::ready() {
  return ask([](PostgresConnection& connection) -> Result<void> {
    if (connection.query("SELECT version FROM schema_version LIMIT 1").count() == 0)
      return fail(ErrorCode::store_unavailable, "store: the database has no schema any more");
    return {};
  });
}

tl::unexpected<Error> PostgresDatabase::busy() {
  return fail(ErrorCode::store_unavailable, "store: busy, no connection became free");
}

/// A connection that broke while it lay idle is only noticed now: that is tried once more, on a new one.
bool PostgresDatabase::may_repeat(const PostgresFailure& failure, int tries) {
  if (failure.fault() == PostgresFault::connection_lost) return tries == 1;
  const bool may_pass = failure.fault() == PostgresFault::again || failure.fault() == PostgresFault::gone;
  return may_pass && tries < PostgresLimits::tries;
}

}  // namespace traceweir::store
