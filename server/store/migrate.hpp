// For: which migration comes next, on any database. Not for: running SQL (sqlite_migrate.hpp, postgres_migrate.hpp).
// A migration is a file schema/<engine>/V<number>__<what>.sql, embedded into the program at build time. Forward only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::store {

/// One file of schema/<engine>. `sql` ends in a zero byte.
struct Migration {
  std::int64_t version;
  std::string_view name, sha256, sql;
};

/// One row of the table schema_version of a store.
struct AppliedMigration {
  std::int64_t version;
  std::string sha256;
};

/// Shape: versions 1, 2, 3, … without gaps.
std::span<const Migration> sqlite_migrations();
std::span<const Migration> postgres_migrations();

/// The migration to apply next, or nullptr when the store is up to date.
/// Shape:  `known` as above; `applied` in order of version.
/// Errors: store_unavailable: the store's schema is newer than `known`, has a gap, or was made by another text of a
///         migration.
Result<const Migration*> next_migration(std::span<const Migration> known, std::span<const AppliedMigration> applied);

/// How many of `known` migrations make the tables of `version`.
/// Errors: store_unavailable: `version` is none of them.
Result<std::size_t> known_version(std::int64_t version, std::size_t known);

/// Errors: store_unavailable: a store whose schema is of version `stored` cannot take what is of `version`.
Result<void> check_not_newer(std::int64_t stored, std::int64_t version);

}  // namespace traceweir::store
