// For: one connection to Postgres, with transactions, parameters as text, rows, and one kind of exception. The only
// file behind it that knows libpqxx is its .cpp. Not for: pooling, repeating, or what is stored
// (postgres_database.hpp).
#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/store.hpp"

namespace traceweir::store {

/// What became of a transaction that failed, which is what decides on repeating it.
enum class PostgresFault {
  connection_lost,  ///< before its commit was sent: nothing was written
  in_doubt,         ///< while its commit was under way: it may have been written
  again,            ///< rolled back for the sake of another one, which a further try may not meet
  gone,             ///< what the row refers to was deleted meanwhile: a further try finds that
  unavailable,      ///< refused or cut short for now: time limits, shutting down, too many connections
  disk_full,
  unstorable_text,  ///< a text with a zero byte or broken UTF-8
  refused,          ///< by the schema or the parser: our own bug, unless the verb expects it
};

/// What every function here throws. The message names no password.
class PostgresFailure : public std::runtime_error {
 public:
  PostgresFailure(PostgresFault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  [[nodiscard]] PostgresFault fault() const { return fault_; }
  /// Whether the constraint of this name was broken. Messages are translated, names in quotes are not.
  [[nodiscard]] bool names(std::string_view constraint) const;

 private:
  PostgresFault fault_;
};

/// A value for $1, $2, … in Postgres' text form; nothing is NULL.
class Parameter {
 public:
  Parameter(std::string text) : text_(std::move(text)) {}
  Parameter(std::string_view text) : text_(text) {}
  Parameter(const char* text) : text_(text) {}
  Parameter(std::int64_t value) : text_(std::to_string(value)) {}
  Parameter(double value);
  Parameter(std::same_as<bool> auto value) : text_(value ? "t" : "f") {}
  Parameter(Timestamp value) : Parameter(std::int64_t{value.time_since_epoch().count()}) {}
  Parameter(std::nullopt_t) {}
  template <typename T>
  Parameter(const std::optional<T>& value) {
    if (value) text_ = Parameter(*value).text_;
  }
  /// An array, to be cast: `$1::text[]`, `$2::bigint[]`. A missing element is NULL.
  template <typename T>
  Parameter(const std::vector<T>& values) {
    text_ = "{";
    for (const T& value : values) add_element(Parameter(value));
    *text_ += '}';
  }

  [[nodiscard]] const std::optional<std::string>& text() const { return text_; }

 private:
  void add_element(const Parameter& element);

  std::optional<std::string> text_;
};

/// The rows of one answer. Errors: read() throws PostgresFailure where a value is not what was expected.
class Rows {
 public:
  struct Answer;  ///< libpqxx's
  explicit Rows(std::unique_ptr<Answer> answer);
  Rows(Rows&&) noexcept;
  ~Rows();

  /// Steps to the next row; false after the last one.
  bool next();
  /// Reads the columns of the row, from the first one on.
  template <typename... T>
  void read(T&... values) {
    int column = 0;
    (take(column++, values), ...);
  }
  /// Reads one column of the row, the first being 0.
  template <typename T>
  void read_at(int column, T& value) {
    take(column, value);
  }
  /// How many rows there are, or how many a statement without rows changed.
  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] std::int64_t changed() const;

 private:
  [[nodiscard]] std::optional<std::string_view> cell(int column) const;
  [[nodiscard]] std::string_view known_cell(int column) const;
  void take(int column, std::string& value) { value = known_cell(column); }
  void take(int column, std::int64_t& value);
  void take(int column, double& value);
  void take(int column, bool& value) { value = known_cell(column) == "t"; }
  void take(int column, Timestamp& value);
  void take(int column, std::vector<std::string>& values);  ///< a text[] without missing elements
  template <typename T>
  void take(int column, std::optional<T>& value) {
    if (!cell(column)) return value.reset();
    take(column, value.emplace());
  }

  std::unique_ptr<Answer> answer_;
  std::int64_t row_ = -1;
};

/// What a text that Postgres cannot hold means in a transaction: reading, it is equal to nothing that is stored (NULL);
/// writing, it is refused.
enum class Access { reading, writing };

/// One connection. It never heals: once `broken`, it is to be thrown away. Thread: one at a time.
class PostgresConnection {
 public:
  /// Connects. `address`: a URL that libpq understands. Errors: throws PostgresFailure (connection_lost).
  explicit PostgresConnection(const std::string& address);
  ~PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  /// Statements that set what holds as long as the session does. False: a pooler stands in between, so that the session
  /// is not ours, and nothing was set. Once, before the first transaction.
  bool settle(const std::string& settings);
  [[nodiscard]] bool is_settled() const;

  /// Starts a transaction; `settings` are statements without parameters that begin it. Nothing outlives it, so that a
  /// pooler may hand each transaction to another session of the server.
  void begin(Access access, const std::string& settings);
  /// The next statement is a transaction of its own: without words before and after it, and with what the session was
  /// settled with. Writing, it throws in_doubt where it may or may not have happened.
  void begin_single(Access access);
  /// Throws in_doubt where it may or may not have happened. After a single statement there is nothing left to do.
  void commit();
  /// Ends a transaction that was begun and not committed; without one it does nothing.
  void roll_back() noexcept;

  /// One statement with its parameters. The session keeps it prepared where no pooler stands in between; through one it
  /// is parsed anew each time, since prepared statements would outlive the transaction.
  template <typename... T>
  Rows query(std::string_view sql, const T&... values) {
    const std::vector<Parameter> parameters{Parameter(values)...};
    return run(std::string(sql), Plan::kept, parameters);
  }
  /// The same, planned for these values each time, which takes some milliseconds: for many rows, where the best plan
  /// follows how many.
  template <typename... T>
  Rows query_planned_anew(std::string_view sql, const T&... values) {
    const std::vector<Parameter> parameters{Parameter(values)...};
    return run(std::string(sql), Plan::anew, parameters);
  }
  /// Runs a statement without rows. Returns the number of changed rows.
  template <typename... T>
  std::int64_t execute(std::string_view sql, const T&... values) {
    return query(sql, values...).changed();
  }
  /// The same with as many parameters as come.
  Rows query_with(const std::string& sql, std::span<const Parameter> parameters) {
    return run(sql, Plan::kept, parameters);
  }
  /// Several statements without parameters (a migration).
  void run_script(const std::string& sql);

  /// From now on `hear` is called, in wait_for_notice(), with the payload of each notification of the channel. No
  /// transaction may be open, here as there.
  void listen(const std::string& channel, std::function<void(std::string_view payload)> hear);
  /// Waits until a notification came, `descriptor` can be read, or the time is over.
  void wait_for_notice(int descriptor, std::optional<std::chrono::milliseconds> time);

  /// Whether what we talk to is the session itself, and no pooler that may hand every transaction to another one.
  [[nodiscard]] bool is_direct() const;
  [[nodiscard]] bool broken() const;

 private:
  struct Parts;  ///< libpqxx's
  enum class Plan { kept, anew };
  Rows run(const std::string& sql, Plan plan, std::span<const Parameter> parameters);
  const std::string* prepared_name(const std::string& sql);
  [[nodiscard]] bool may_have_written() const;
  template <typename Work>
  auto guarded(const Work& work);

  std::unique_ptr<Parts> parts_;
};

}  // namespace traceweir::store
