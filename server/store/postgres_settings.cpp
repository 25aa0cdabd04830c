#include "server/store/postgres_settings.hpp"

#include "server/store/postgres_database.hpp"

namespace traceweir::store {
namespace {

using std::chrono::milliseconds;

/// `set`: the statement that sets, `SET` or `SET LOCAL`.
std::string time_limits(const std::string& set, milliseconds statement, milliseconds lock, milliseconds idle) {
  const auto limit = [&set](const char* name, milliseconds time) {
    return set + ' ' + name + " = " + std::to_string(time.count()) + ';';
  };
  return limit("statement_timeout", statement) + limit("lock_timeout", lock) +
         limit("idle_in_transaction_session_timeout", idle) + set + " client_min_messages = error;";
}

std::string usual_limits(const std::string& set) {
  return time_limits(set, PostgresLimits::statement_time_max, PostgresLimits::lock_time_max,
                     PostgresLimits::idle_time_max);
}

const std::string local = "SET LOCAL";

/// Every question of the store is a range of an index. Told so, the planner is not misled by statistics from a time
/// when a table was small. Without that choice there is also nothing that compiling a plan could speed up.
std::string plans(const std::string& set) { return set + " enable_seqscan = off;" + set + " jit = off;"; }

std::string isolation(Access access) {
  const std::string mode = access == Access::reading ? "REPEATABLE READ READ ONLY" : "READ COMMITTED READ WRITE";
  return "SET TRANSACTION ISOLATION LEVEL " + mode + ';';
}

}  // namespace

std::string transaction_settings(Access access) { return isolation(access) + plans(local) + usual_limits(local); }

std::string short_transaction_settings(Access access) {
  return access == Access::reading ? isolation(access) : std::string();  // the other one is the session's
}

std::string session_settings() {
  return plans("SET") + usual_limits("SET") +
         "SET default_transaction_isolation = 'read committed';SET default_transaction_read_only = off;";
}

std::string migration_settings() {
  return time_limits(local, PostgresLimits::migration_time_max, PostgresLimits::migration_time_max,
                     PostgresLimits::idle_time_max);
}

std::string copy_settings(Access access) {
  return isolation(access) + time_limits(local, PostgresLimits::copy_time_max, PostgresLimits::lock_time_max,
                                         PostgresLimits::copy_time_max);
}

}  // namespace traceweir::store
