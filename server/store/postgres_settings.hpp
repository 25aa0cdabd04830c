// For: the statements that begin each transaction on Postgres: isolation and time limits. They are local to it where a
// pooler may give the next one another session. Not for: the limits' values (postgres_database.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "server/store/postgres_connection.hpp"

namespace traceweir::store {

/// Keys of the advisory locks, which are numbers that all programs of a database share: "trcw" and a digit.
inline constexpr std::int64_t migration_lock_key = 0x7472637702, administrator_lock_key = 0x7472637703;

/// Reading: one unchanging state for all statements. Writing: each statement sees what was committed before it, and
/// locks are taken on purpose (docs/decisions/010).
std::string transaction_settings(Access access);
/// The same where session_settings() hold.
std::string short_transaction_settings(Access access);
/// What a session of our own is told once.
std::string session_settings();
/// Of a migration: longer limits.
std::string migration_settings();
/// Of one that carries whole tables: reading, one unchanging state; writing, after whoever else has the tables.
std::string copy_settings(Access access);

}  // namespace traceweir::store
