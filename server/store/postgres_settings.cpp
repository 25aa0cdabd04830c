#include "server/store/postgres_settings.hpp"

#include "server/store/postgres_database.hpp"

namespace traceweir::store {
namespace {

using std::chrono::milliseconds;

std::string time_limits(milliseconds statement, milliseconds lock, milliseconds idle) {
  const auto local = [](const char* name, milliseconds limit) {
    return "SET LOCAL " + std::string(name) + " = " + std::to_string(limit.count()) + ';';
  };
  return local("statement_timeout", statement) + local("lock_timeout", lock) +
         local("idle_in_transaction_session_timeout", idle) + "SET LOCAL client_min_messages = error;";
}

/// Every question of the store is a range of an index. Told so, the planner is not misled by statistics from a time
/// when a table was small. Without that choice there is also nothing that compiling a plan could speed up.
constexpr const char* plans = "SET LOCAL enable_seqscan = off; SET LOCAL jit = off;";

}  // namespace

std::string transaction_settings(Access access) {
  const std::string mode = access == Access::reading ? "REPEATABLE READ READ ONLY" : "READ COMMITTED READ WRITE";
  return "SET TRANSACTION ISOLATION LEVEL " + mode + ';' + plans +
         time_limits(PostgresLimits::statement_time_max, PostgresLimits::lock_time_max, PostgresLimits::idle_time_max);
}

std::string migration_settings() {
  return time_limits(PostgresLimits::migration_time_max, PostgresLimits::migration_time_max,
                     PostgresLimits::idle_time_max);
}

std::string copy_settings(Access access) {
  const std::string mode = access == Access::reading ? "REPEATABLE READ READ ONLY" : "READ COMMITTED READ WRITE";
  return "SET TRANSACTION ISOLATION LEVEL " + mode + ';' +
         time_limits(PostgresLimits::copy_time_max, PostgresLimits::lock_time_max, PostgresLimits::copy_time_max);
}

}  // namespace traceweir::store
