// For: bringing the schema of a Postgres store up to date. Which migration comes next: migrate.hpp.
// Not for: what the schema says (schema/postgres).
#pragma once

#include <span>

#include "server/store/migrate.hpp"
#include "server/store/postgres_connection.hpp"

namespace traceweir::store {

/// Applies what is missing of `known`, each migration in a transaction of its own together with its row in
/// schema_version, under an advisory lock: of several processes that do so at once one wins, the others find the work
/// done. The tables lie in the first schema of the search path.
/// Errors: store_unavailable: a newer or changed schema, tables of another program, a database that is not UTF-8.
///         Throws PostgresFailure.
Result<void> migrate_postgres(PostgresConnection& connection, std::span<const Migration> known);

}  // namespace traceweir::store
