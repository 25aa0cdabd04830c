#include "server/store/sqlite_migrate.hpp"

#include <vector>

namespace traceweir::store {
namespace {

std::int64_t count(Connection& connection, std::string_view sql) {
  std::int64_t rows = 0;
  Query query = connection.query(sql);
  query.next();
  query.read(rows);
  return rows;
}

std::vector<AppliedMigration> applied_migrations(Connection& connection) {
  connection.database().exec(
      "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL, "
      "sha256 TEXT NOT NULL, applied_us INTEGER NOT NULL)");
  std::vector<AppliedMigration> applied;
  Query query = connection.query("SELECT version, sha256 FROM schema_version ORDER BY version");
  while (query.next()) {
    AppliedMigration& row = applied.emplace_back();
    query.read(row.version, row.sha256);
  }
  return applied;
}

void apply(Connection& connection, const Migration& migration) {
  connection.database().exec(std::string(migration.sql));
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  connection.execute("INSERT INTO schema_version (version, name, sha256, applied_us) VALUES (?1, ?2, ?3, ?4)",
                     migration.version, migration.name, migration.sha256, now);
}

}  // namespace

Result<void> check_owner(Connection& connection) {
  if (count(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'") > 0) return {};
  if (count(connection, "SELECT count(*) FROM sqlite_schema") == 0) return {};
  return fail(ErrorCode::store_unavailable, "it is a SQLite database of another program");
}

Result<void> migrate_sqlite(Connection& connection, std::span<const Migration> known) {
  for (;;) {
    // The list is read again under each lock, since another process may have applied a migration in between.
    SQLite::Transaction transaction(connection.database(), SQLite::TransactionBehavior::IMMEDIATE);
    TRACEWEIR_TRY(next, next_migration(known, applied_migrations(connection)));
    if (next) apply(connection, *next);
    transaction.commit();
    if (!next) return {};
  }
}

}  // namespace traceweir::store
