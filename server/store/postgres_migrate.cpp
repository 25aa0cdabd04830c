#include "server/store/postgres_migrate.hpp"

#include <vector>

#include "server/store/postgres_settings.hpp"

namespace traceweir::store {
namespace {

/// Ends a transaction on every way out. After a commit there is none.
struct RollBack {
  PostgresConnection& connection;
  ~RollBack() { connection.roll_back(); }
};

bool has_table(PostgresConnection& connection, std::string_view condition) {
  return connection
             .query(
                 "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
                 "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT FROM "
                 "pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') AND " +
                 std::string(condition) + " LIMIT 1")
             .count() > 0;
}

/// A URL typed wrongly must not put our tables among another program's.
Result<void> check_owner(PostgresConnection& connection) {
  if (has_table(connection, "c.relname = 'schema_version'") || !has_table(connection, "TRUE")) return {};
  return fail(ErrorCode::store_unavailable,
              "store: the database has tables of another program; give us one of our own");
}

Result<void> check_encoding(PostgresConnection& connection) {
  std::string encoding;
  Rows row = connection.query("SELECT pg_catalog.current_setting('server_encoding')");
  row.next();
  row.read(encoding);
  if (encoding == "UTF8") return {};
  return fail(ErrorCode::store_unavailable, "store: the database's encoding is " + encoding + ", UTF8 is needed");
}

std::vector<AppliedMigration> applied_migrations(PostgresConnection& connection) {
  connection.run_script(
      "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY, name TEXT NOT NULL, "
      "sha256 TEXT NOT NULL, applied_us BIGINT NOT NULL)");
  std::vector<AppliedMigration> applied;
  Rows rows = connection.query("SELECT version, sha256 FROM schema_version ORDER BY version");
  while (rows.next()) {
    AppliedMigration& row = applied.emplace_back();
    rows.read(row.version, row.sha256);
  }
  return applied;
}

void apply(PostgresConnection& connection, const Migration& migration) {
  connection.run_script(std::string(migration.sql));
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  connection.execute("INSERT INTO schema_version (version, name, sha256, applied_us) VALUES ($1, $2, $3, $4)",
                     migration.version, migration.name, migration.sha256, now);
}

}  // namespace

Result<void> migrate_postgres(PostgresConnection& connection, std::span<const Migration> known) {
  for (;;) {
    // The list is read again under each lock, since another process may have applied a migration in between.
    const RollBack roll_back{connection};
    connection.begin(Access::writing, migration_settings());
    connection.query("SELECT pg_advisory_xact_lock($1::bigint)", migration_lock_key);
    TRACEWEIR_TRY_VOID(check_encoding(connection));
    TRACEWEIR_TRY_VOID(check_owner(connection));
    TRACEWEIR_TRY(next, next_migration(known, applied_migrations(connection)));
    if (next) apply(connection, *next);
    connection.commit();
    if (!next) return {};
  }
}

}  // namespace traceweir::store
