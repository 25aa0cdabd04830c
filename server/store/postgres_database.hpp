// For: one Postgres database as a bounded pool of connections, with transactions that are repeated where that is safe,
// and errors as values. Not for: knowing what is stored (postgres_store.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "server/store/pool.hpp"
#include "server/store/postgres_connection.hpp"

namespace traceweir::store {

/// Limits of the Postgres store. Those of a connection are in postgres_url.cpp.
struct PostgresLimits {
  static constexpr int connections = 16;
  static constexpr std::chrono::milliseconds turn_time_max{15'000};        ///< a call's wait for a connection
  static constexpr std::chrono::milliseconds statement_time_max{15'000};   ///< of one statement
  static constexpr std::chrono::milliseconds lock_time_max{5'000};         ///< a statement's wait for a lock
  static constexpr std::chrono::milliseconds idle_time_max{10'000};        ///< between two statements of a transaction
  static constexpr std::chrono::milliseconds migration_time_max{600'000};  ///< of a migration, its wait included
  static constexpr std::chrono::milliseconds copy_time_max{600'000};       ///< of a statement and of a pause in a copy
  static constexpr int tries = 8;  ///< of a transaction that was rolled back for the sake of another one
};

/// What a failure means to a caller.
Error error_of(const PostgresFailure& failure);

/// Thread: safe from any thread.
class PostgresDatabase {
 public:
  /// Connects, and brings the schema up to date.
  /// Errors: store_unavailable: cannot be reached in time, is no store, has a newer schema.
  static Result<std::unique_ptr<PostgresDatabase>> open(const std::string& address);

  [[nodiscard]] const std::string& address() const { return address_; }

  /// Runs `work(PostgresConnection&)`, which returns a Result, on one unchanging state of the database. It may be run
  /// more than once. Errors: those of `work`; store_unavailable.
  template <typename Work>
  std::invoke_result_t<Work, PostgresConnection&> read(const Work& work) {
    return in_transaction<std::invoke_result_t<Work, PostgresConnection&>>({Access::reading}, work);
  }
  /// The same of work that is one statement: where the session is ours it needs no transaction around it.
  template <typename Work>
  std::invoke_result_t<Work, PostgresConnection&> ask(const Work& work) {
    return in_transaction<std::invoke_result_t<Work, PostgresConnection&>>({Access::reading, Extent::single}, work);
  }

  /// Runs `work(PostgresConnection&)`, which returns a Result, in a transaction: committed and on disk when the Result
  /// has a value, rolled back when it has an Error. It may be run more than once, but never after its commit was sent.
  /// Errors: those of `work`; store_unavailable, disk_full, bad_query (a text that Postgres cannot hold).
  template <typename Work>
  std::invoke_result_t<Work, PostgresConnection&> write(const Work& work) {
    return in_transaction<std::invoke_result_t<Work, PostgresConnection&>>({Access::writing}, work);
  }
  /// The same of work that is one statement, which stays even where the Result has an Error.
  /// Errors: those of write(); store_unavailable, too, where the answer was lost and it may have been done.
  template <typename Work>
  std::invoke_result_t<Work, PostgresConnection&> change(const Work& work) {
    return in_transaction<std::invoke_result_t<Work, PostgresConnection&>>({Access::writing, Extent::single}, work);
  }

  /// The same, where `resolve()` can find out whether a commit whose answer was lost has happened. It returns what
  /// `work` would have, or an Error. Errors: those of write().
  template <typename Work, typename Resolve>
  std::invoke_result_t<Work, PostgresConnection&> write(const Work& work, const Resolve& resolve) {
    return resolving({Access::writing}, work, resolve);
  }
  template <typename Work, typename Resolve>
  std::invoke_result_t<Work, PostgresConnection&> change(const Work& work, const Resolve& resolve) {
    return resolving({Access::writing, Extent::single}, work, resolve);
  }

  /// Errors: store_unavailable, with the reason.
  Result<void> ready();

 private:
  /// A place for a connection, which is opened when it is needed first and again after it broke.
  struct Slot {
    std::unique_ptr<PostgresConnection> connection;
  };
  using Slots = Pool<Slot>;

  enum class Extent { several, single };  ///< statements
  struct Kind {
    Access access;
    Extent extent = Extent::several;
  };

  explicit PostgresDatabase(std::string address);
  void begin(Slot& slot, Kind kind);
  static tl::unexpected<Error> busy();
  static bool may_repeat(const PostgresFailure& failure, int tries);

  template <typename Work, typename Resolve>
  std::invoke_result_t<Work, PostgresConnection&> resolving(Kind kind, const Work& work, const Resolve& resolve) {
    bool in_doubt = false;
    const auto result = in_transaction<std::invoke_result_t<Work, PostgresConnection&>>(kind, work, &in_doubt);
    if (!in_doubt) return result;
    auto resolved = resolve();
    return resolved ? resolved : result;
  }

  template <typename R, typename Work>
  R in_transaction(Kind kind, const Work& work, bool* in_doubt = nullptr) {
    const auto lease = slots_.lease(PostgresLimits::turn_time_max);
    if (!lease) return busy();
    for (int tries = 1;; ++tries) {
      try {
        return attempt<R>(*lease, kind, work);
      } catch (const PostgresFailure& failure) {
        if ((*lease).connection && (*lease).connection->broken()) (*lease).connection.reset();
        if (may_repeat(failure, tries)) continue;
        if (in_doubt != nullptr) *in_doubt = failure.fault() == PostgresFault::in_doubt;
        return tl::unexpected(error_of(failure));
      }
    }
  }

  template <typename R, typename Work>
  R attempt(Slot& slot, Kind kind, const Work& work) {
    const RollBack roll_back{slot};
    begin(slot, kind);
    R result = work(*slot.connection);
    if (result && kind.access == Access::writing) slot.connection->commit();  // reading just ends
    return result;
  }

  struct RollBack {
    Slot& slot;
    ~RollBack() {
      if (slot.connection) slot.connection->roll_back();
    }
  };

  std::string address_;
  Slots slots_;
};

}  // namespace traceweir::store
