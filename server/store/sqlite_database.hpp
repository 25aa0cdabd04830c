// For: one SQLite file as one writer and a few readers, with prepared statements and errors as values. Not for: knowing
// what is stored (sqlite_store.hpp).
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/core/error.hpp"
#include "server/store/pool.hpp"
#include "server/store/store.hpp"

namespace traceweir::store {

/// How long SQLite waits for a lock of another process, and how long a call waits for its turn in this one.
inline constexpr std::chrono::milliseconds lock_time_max{5'000};
inline constexpr std::chrono::milliseconds turn_time_max{15'000};
inline constexpr int reader_count = 4;

/// One execution of a prepared statement; ends (and lets go of its locks) with its life.
/// Errors: every member may throw SQLite::Exception; SqliteDatabase turns it into a Result.
class Query {
 public:
  /// Binds `values` to the parameters ?1, ?2, …
  template <typename... T>
  explicit Query(SQLite::Statement& statement, const T&... values) : statement_(statement) {
    (bind(values), ...);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  /// Binds the next parameter.
  void bind(const std::string& value) { statement_.bind(++bound_, value); }
  void bind(std::string_view value) { bind(std::string(value)); }
  void bind(const char* value) { bind(std::string(value)); }
  void bind(std::int64_t value) { statement_.bind(++bound_, value); }
  void bind(double value) { statement_.bind(++bound_, value); }
  void bind(std::same_as<bool> auto value) { bind(std::int64_t{value}); }
  void bind(Timestamp value) { bind(std::int64_t{value.time_since_epoch().count()}); }
  void bind(std::nullopt_t) { statement_.bind(++bound_); }
  template <typename T>
  void bind(const std::optional<T>& value) {
    value ? bind(*value) : bind(std::nullopt);
  }

  /// Steps to the next row; false after the last one.
  bool next() { return statement_.executeStep(); }
  /// Reads the columns of the row, from the first one on.
  template <typename... T>
  void read(T&... values) {
    int column = 0;
    (take(column++, values), ...);
  }

 private:
  void take(int column, std::string& value) { value = statement_.getColumn(column).getString(); }
  void take(int column, std::int64_t& value) { value = statement_.getColumn(column).getInt64(); }
  void take(int column, double& value) { value = statement_.getColumn(column).getDouble(); }
  void take(int column, bool& value) { value = statement_.getColumn(column).getInt64() != 0; }
  void take(int column, Timestamp& value) {
    value = Timestamp{std::chrono::microseconds{statement_.getColumn(column).getInt64()}};
  }
  template <typename T>
  void take(int column, std::optional<T>& value) {
    if (statement_.getColumn(column).isNull()) return value.reset();
    take(column, value.emplace());
  }

  SQLite::Statement& statement_;
  int bound_ = 0;
};

/// One connection with its prepared statements. Thread: one at a time.
class Connection {
 public:
  /// Opens an existing file with the settings of the store. Errors: throws SQLite::Exception.
  explicit Connection(const std::filesystem::path& file);

  SQLite::Database& database() { return database_; }

  /// Starts `sql` with `values` as its parameters. A text is prepared once per connection, so it is not to be started
  /// again while a Query of it lives.
  template <typename... T>
  Query query(std::string_view sql, const T&... values) {
    return Query(prepared(sql), values...);
  }
  /// Runs a statement without rows. Returns the number of changed rows.
  template <typename... T>
  std::int64_t execute(std::string_view sql, const T&... values) {
    Query(prepared(sql), values...).next();
    return database_.getChanges();
  }

 private:
  SQLite::Statement& prepared(std::string_view sql);

  SQLite::Database database_;
  std::map<std::string, SQLite::Statement, std::less<>> statements_;  // after database_: finalised before it closes
};

/// The Error of an exception that `connection` threw: disk_full, store_unavailable, or internal where a constraint of
/// the schema was broken.
Error error_of(Connection& connection, const SQLite::Exception& exception);

/// Owns a file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// The descriptor of a lock file that only one process at a time holds. The kernel lets go of it with the process, so a
/// killed service leaves nothing behind. The file stays: deleting it would let two processes lock two files.
/// Errors: store_unavailable: another service has it, or there can be no such file.
Result<FileDescriptor> lock_service(const std::filesystem::path& file);

/// Makes the file before SQLite does, which would make it readable for all. Only where there is none: closing a
/// descriptor of a file that is open elsewhere in this process would drop SQLite's locks.
/// Errors: store_unavailable.
Result<void> make_private(const std::filesystem::path& file);

/// The settings of a connection that writes. Errors: throws SQLite::Exception.
void set_up(SQLite::Database& database);

/// An open store file: WAL, every commit on disk before the call returns, one writer, a few readers.
/// Thread: safe from any thread.
class SqliteDatabase {
 public:
  /// Opens `file`, makes it (mode 0600) if it is missing, and brings its schema up to date.
  /// Errors: store_unavailable: it cannot be opened, is no store, is locked by another service, or has a newer schema.
  static Result<std::unique_ptr<SqliteDatabase>> open(const std::filesystem::path& file, Opening opening);

  /// Runs `work(Connection&)`, which returns a Result, on one unchanging state of the store.
  /// Errors: those of `work`; store_unavailable.
  template <typename Work>
  std::invoke_result_t<Work, Connection&> read(const Work& work) {
    const auto lease = readers_.lease(turn_time_max);
    if (!lease) return busy("reader");
    try {
      const SQLite::Transaction snapshot((*lease).database());
      return work(*lease);
    } catch (const SQLite::Exception& exception) {
      return tl::unexpected(error_of(*lease, exception));
    }
  }

  /// Runs `work(Connection&)`, which returns a Result, in a transaction: committed and on disk when the Result has a
  /// value, rolled back when it has an Error.
  /// Errors: those of `work`; store_unavailable, disk_full.
  template <typename Work>
  std::invoke_result_t<Work, Connection&> write(const Work& work) {
    const auto lease = writer_.lease(turn_time_max);
    if (!lease) return busy("writer");
    try {
      TRACEWEIR_TRY_VOID(still_in_place(*lease));
      SQLite::Transaction transaction((*lease).database(), SQLite::TransactionBehavior::IMMEDIATE);
      auto result = work(*lease);
      if (result) transaction.commit();
      return result;
    } catch (const SQLite::Exception& exception) {
      return tl::unexpected(error_of(*lease, exception));
    }
  }

  /// Errors: store_unavailable: the file was moved or deleted, or does not answer.
  Result<void> ready();

 private:
  explicit SqliteDatabase(FileDescriptor lock) : lock_(std::move(lock)) {}
  Result<void> prepare(const std::filesystem::path& file);
  static Result<void> still_in_place(Connection& connection);
  static tl::unexpected<Error> busy(std::string_view who);

  FileDescriptor lock_;      // first: let go of last
  Pool<Connection> writer_;  // of one
  Pool<Connection> readers_;
};

}  // namespace traceweir::store
