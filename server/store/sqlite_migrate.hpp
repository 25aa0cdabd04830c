// For: bringing the schema of a SQLite store up to date. Which migration comes next: migrate.hpp.
// Not for: what the schema says (schema/sqlite).
#pragma once

#include <span>

#include "server/store/migrate.hpp"
#include "server/store/sqlite_database.hpp"

namespace traceweir::store {

/// A path typed wrongly must not turn another program's database into a store. Reads only.
/// Errors: store_unavailable: the file has tables, but not those of a store. Throws SQLite::Exception.
Result<void> check_owner(Connection& connection);

/// Applies what is missing of `known`, each migration in a transaction of its own together with its row in
/// schema_version. Several processes may do so at once: one wins, the others find the work done.
/// Errors: store_unavailable: a newer or changed schema. Throws SQLite::Exception.
Result<void> migrate_sqlite(Connection& connection, std::span<const Migration> known);

}  // namespace traceweir::store
