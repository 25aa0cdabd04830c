#include "server/store/postgres_connection.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <pqxx/pqxx>
#include <unordered_map>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "server/hash/sha256.hpp"

// Later versions of libpqxx call exec_params old; the new form is not in the ones that we also support.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace traceweir::store {
namespace {

constexpr std::string_view no_such_statement = "26000";

/// How many statements a session keeps prepared. There are fewer texts than that; more would be a leak.
constexpr std::size_t prepared_max = 256;

struct FaultRow {
  std::string_view sqlstate;  // or the beginning of several
  PostgresFault fault;
};

/// The first row that fits counts. Codes: PostgreSQL's documentation, appendix A.
constexpr FaultRow faults[] = {
    {"40001", PostgresFault::again},            // serialization_failure
    {"40P01", PostgresFault::again},            // deadlock_detected
    {"23503", PostgresFault::gone},             // foreign_key_violation
    {"53100", PostgresFault::disk_full},        // disk_full
    {"57P", PostgresFault::connection_lost},    // shutting down, starting up, session ended
    {"08", PostgresFault::connection_lost},     // connection exceptions
    {"25P03", PostgresFault::connection_lost},  // idle in transaction for too long
    {"25006", PostgresFault::unavailable},      // read only: a standby
    {"53", PostgresFault::unavailable},         // too many connections, out of memory
    {"55P03", PostgresFault::unavailable},      // lock not available in time
    {"57014", PostgresFault::unavailable},      // statement timeout
    {"58", PostgresFault::unavailable},         // system error: an I/O error of the server
    {"XX", PostgresFault::unavailable},         // internal error, damaged data
    {"28", PostgresFault::unavailable},         // not let in any more
    {"3D", PostgresFault::unavailable},         // no such database
    {"22021", PostgresFault::unstorable_text},  // character not in repertoire
    {no_such_statement, PostgresFault::again},  // prepared in another session
};

PostgresFault fault_of(std::string_view sqlstate) {
  if (sqlstate.empty()) return PostgresFault::connection_lost;  // libpq's own words, not the server's
  for (const FaultRow& row : faults)
    if (sqlstate.starts_with(row.sqlstate)) return row.fault;
  return PostgresFault::refused;
}

/// The first line, without the level in front; the lines below repeat values of the row.
std::string shown(std::string_view what) {
  what = what.substr(0, what.find('\n'));
  constexpr std::string_view level = "ERROR:  ";
  if (what.starts_with(level)) what.remove_prefix(level.size());
  return std::string(what);
}

bool is_storable(const std::string& text) { return text.find('\0') == std::string::npos && is_utf8(text); }

/// Numbers in Postgres' text form are read as C++ writes them; it says Infinity where C++ says inf, which both read.
template <typename T>
void read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw PostgresFailure(PostgresFault::unavailable, "a stored number cannot be read: the database is damaged");
}

}  // namespace

bool PostgresFailure::names(std::string_view constraint) const {
  return std::string_view(what()).find('"' + std::string(constraint) + '"') != std::string_view::npos;
}

// From here on: parameters and rows.

Parameter::Parameter(double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value);
  text_ = error == std::errc{} ? std::string(digits, end) : "NaN";
}

void Parameter::add_element(const Parameter& element) {
  if (text_->size() > 1) *text_ += ',';
  if (!element.text_) {
    *text_ += "NULL";
    return;
  }
  *text_ += '"';
  for (const char c : *element.text_) {
    if (c == '"' || c == '\\') *text_ += '\\';
    *text_ += c;
  }
  *text_ += '"';
}

struct Rows::Answer {
  pqxx::result rows;
  std::optional<pqxx::row::const_iterator> field{};  // of the row that is read
  int column = 0;
};

Rows::Rows(std::unique_ptr<Answer> answer) : answer_(std::move(answer)) {}
Rows::Rows(Rows&&) noexcept = default;
Rows::~Rows() = default;

bool Rows::next() {
  if (++row_ >= count()) return false;
  answer_->field.emplace(answer_->rows[static_cast<pqxx::result::size_type>(row_)].begin());
  answer_->column = 0;
  return true;
}

std::int64_t Rows::count() const { return static_cast<std::int64_t>(answer_->rows.size()); }
std::int64_t Rows::changed() const { return static_cast<std::int64_t>(answer_->rows.affected_rows()); }

/// Steps along the row: looking a field up by its number would count references to the result, several times each.
std::optional<std::string_view> Rows::cell(int column) const {
  pqxx::row::const_iterator& field = *answer_->field;
  field += column - std::exchange(answer_->column, column);
  if (field->is_null()) return std::nullopt;
  return std::string_view(field->c_str(), field->size());  // lives as long as the result
}

std::string_view Rows::known_cell(int column) const {
  const auto text = cell(column);
  if (!text) throw PostgresFailure(PostgresFault::unavailable, "a stored value is missing: the database is damaged");
  return *text;
}

void Rows::take(int column, std::int64_t& value) { read_number(known_cell(column), value); }
void Rows::take(int column, double& value) { read_number(known_cell(column), value); }
void Rows::take(int column, Timestamp& value) {
  std::int64_t microseconds = 0;
  take(column, microseconds);
  value = Timestamp{std::chrono::microseconds{microseconds}};
}

namespace {

/// Takes an element off the front of an array's text form, behind its opening brace; with what ends it.
/// Source: PostgreSQL's documentation, 8.15.6.
std::string take_element(std::string_view& text) {
  std::string element;
  bool quoted = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (!quoted && (c == ',' || c == '}')) break;
    if (c == '"') {
      quoted = !quoted;
      continue;
    }
    if (c == '\\') text.remove_prefix(1);
    if (!text.empty()) element += text.front();
  }
  if (!text.empty()) text.remove_prefix(1);
  return element;
}

}  // namespace

void Rows::take(int column, std::vector<std::string>& values) {
  values.clear();
  std::string_view text = known_cell(column);
  if (!text.starts_with('{') || text == "{}") return;
  text.remove_prefix(1);
  while (!text.empty()) values.push_back(take_element(text));
}

// From here on: the connection.

/// Hands on what libpqxx receives.
class Receiver : public pqxx::notification_receiver {
 public:
  Receiver(pqxx::connection& connection, const std::string& channel, std::function<void(std::string_view)> hear)
      : pqxx::notification_receiver(connection, channel), hear_(std::move(hear)) {}
  void operator()(const std::string& payload, int) override { hear_(payload); }

 private:
  std::function<void(std::string_view)> hear_;
};

struct PostgresConnection::Parts {
  explicit Parts(const std::string& address) : connection(address), quiet(connection) {}

  enum class Extent { single, several };
  void start(Access wanted, Extent wide) {
    access = wanted;
    extent = wide;
    used = failed = false;
    transaction = std::make_unique<pqxx::nontransaction>(connection);
  }

  pqxx::connection connection;
  pqxx::quiet_errorhandler quiet;  // libpqxx would write its notices to stderr, in between the log's lines
  std::unique_ptr<pqxx::nontransaction> transaction;  // says nothing by itself: we begin and end
  std::unique_ptr<Receiver> receiver;
  std::unordered_map<std::string, std::string> prepared;  // names by text
  bool direct = false, may_prepare = false;
  bool settled = false;
  Access access = Access::reading;
  Extent extent = Extent::several;
  bool used = false;    // the one statement of a transaction that is none but that
  bool failed = false;  // a transaction that failed would "commit" nothing, without an error
  bool lost = false;
};

namespace {

/// libpqxx 6 would open a lost connection again by itself, in the middle of a transaction; later ones cannot.
template <typename Connection>
void stay_lost(Connection& connection) {
  if constexpr (requires { connection.inhibit_reactivation(true); }) connection.inhibit_reactivation(true);
}

/// Whether what we talk to is the session itself. A pooler answers with a key of its own, and may hand every
/// transaction to another session.
bool is_session_itself(pqxx::connection& connection) {
  pqxx::nontransaction asking(connection);
  return asking.exec1("SELECT pg_backend_pid()")[0].as<int>() == connection.backendpid();
}

}  // namespace

/// Runs `work`; what libpqxx throws comes out as PostgresFailure.
template <typename Work>
auto PostgresConnection::guarded(const Work& work) {
  const auto failure = [this](PostgresFault fault, const char* what) {
    parts_->failed = true;
    if (!parts_->connection.is_open()) fault = PostgresFault::connection_lost;
    if (fault == PostgresFault::connection_lost) parts_->lost = true;
    if (fault == PostgresFault::connection_lost && may_have_written()) fault = PostgresFault::in_doubt;
    return PostgresFailure(fault, shown(what));
  };
  try {
    return work();
  } catch (const pqxx::sql_error& error) {
    if (error.sqlstate() == no_such_statement) parts_->may_prepare = false;
    throw failure(fault_of(error.sqlstate()), error.what());
  } catch (const pqxx::serialization_failure& error) {
    throw failure(PostgresFault::again, error.what());
  } catch (const pqxx::deadlock_detected& error) {
    throw failure(PostgresFault::again, error.what());
  } catch (const pqxx::in_doubt_error& error) {
    parts_->lost = true;
    throw PostgresFailure(PostgresFault::in_doubt, shown(error.what()));
  } catch (const pqxx::broken_connection& error) {
    throw failure(PostgresFault::connection_lost, error.what());
  } catch (const std::exception& error) {  // libpqxx 7 has no base of its own for what it throws
    throw failure(PostgresFault::refused, error.what());
  }
}

PostgresConnection::PostgresConnection(const std::string& address) {
  try {
    parts_ = std::make_unique<Parts>(address);
    stay_lost(parts_->connection);
    parts_->direct = parts_->may_prepare = is_session_itself(parts_->connection);
  } catch (const std::exception& error) {
    throw PostgresFailure(PostgresFault::connection_lost, shown(error.what()));
  }
}

PostgresConnection::~PostgresConnection() { roll_back(); }

bool PostgresConnection::settle(const std::string& settings) {
  if (!parts_->may_prepare) return false;
  guarded([&] { pqxx::nontransaction(parts_->connection).exec(settings); });
  return parts_->settled = true;
}

/// As long as nobody found that somebody stands in between after all.
bool PostgresConnection::is_settled() const { return parts_->settled && parts_->may_prepare; }

void PostgresConnection::begin(Access access, const std::string& settings) {
  guarded([&] {
    parts_->start(access, Parts::Extent::several);
    parts_->transaction->exec("BEGIN;" + settings);
  });
}

/// A session that ended while it lay idle has said so: what is found now need not be in doubt later.
void PostgresConnection::begin_single(Access access) {
  pollfd ended{parts_->connection.is_open() ? parts_->connection.sock() : -1, POLLIN, 0};
  if (ended.fd < 0 || ::poll(&ended, 1, 0) > 0) {
    parts_->lost = true;
    throw PostgresFailure(PostgresFault::connection_lost, "the session has ended");
  }
  guarded([&] { parts_->start(access, Parts::Extent::single); });
}

/// Whether what went wrong just now may have been done nevertheless.
bool PostgresConnection::may_have_written() const {
  return parts_->transaction && parts_->extent == Parts::Extent::single && parts_->access == Access::writing &&
         parts_->used;
}

void PostgresConnection::commit() {
  try {
    if (parts_->failed) throw PostgresFailure(PostgresFault::refused, "a transaction that failed was to be committed");
    if (parts_->extent == Parts::Extent::several) guarded([&] { parts_->transaction->exec("COMMIT"); });
  } catch (const PostgresFailure& failure) {
    if (failure.fault() != PostgresFault::connection_lost) throw;
    throw PostgresFailure(PostgresFault::in_doubt, failure.what());
  }
  parts_->transaction.reset();
}

void PostgresConnection::roll_back() noexcept {
  if (!parts_ || !parts_->transaction) return;
  try {
    if (parts_->extent == Parts::Extent::several) parts_->transaction->exec("ROLLBACK");
    parts_->transaction.reset();
  } catch (const std::exception&) {
    parts_->lost = true;  // in which state the session is nobody knows
  }
}

/// The name under which the session knows the statement; nothing where it is to be parsed anew.
const std::string* PostgresConnection::prepared_name(const std::string& sql) {
  if (!parts_->may_prepare) return nullptr;
  if (const auto found = parts_->prepared.find(sql); found != parts_->prepared.end()) return &found->second;
  if (parts_->prepared.size() == prepared_max) return nullptr;
  // Named by what it says: in a session that is not ours it is unknown, and never another one.
  const std::string name = "traceweir_" + hash::sha256_hex(sql).substr(0, 32);
  parts_->connection.prepare(name, sql);
  return &parts_->prepared.emplace(sql, name).first->second;
}

Rows PostgresConnection::run(const std::string& sql, Plan plan, std::span<const Parameter> parameters) {
  std::vector<const char*> texts;  // nullptr: NULL
  texts.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    const bool storable = parameter.text() && is_storable(*parameter.text());
    if (parameter.text() && !storable && parts_->access == Access::writing)
      throw PostgresFailure(PostgresFault::unstorable_text, "a text has a zero byte or is not UTF-8");
    texts.push_back(storable ? parameter.text()->c_str() : nullptr);
  }
  if (parts_->extent == Parts::Extent::single) TRACEWEIR_ASSERT(!std::exchange(parts_->used, true));
  return guarded([&] {
    const auto values = pqxx::prepare::make_dynamic_params(texts);
    const std::string* name = plan == Plan::kept ? prepared_name(sql) : nullptr;
    auto rows = name != nullptr ? parts_->transaction->exec_prepared(*name, values)
                                : parts_->transaction->exec_params(sql, values);
    return Rows(std::make_unique<Rows::Answer>(Rows::Answer{std::move(rows)}));
  });
}

void PostgresConnection::run_script(const std::string& sql) {
  guarded([&] { parts_->transaction->exec(sql); });
}

void PostgresConnection::listen(const std::string& channel, std::function<void(std::string_view payload)> hear) {
  guarded([&] { parts_->receiver = std::make_unique<Receiver>(parts_->connection, channel, std::move(hear)); });
}

void PostgresConnection::wait_for_notice(int descriptor, std::optional<std::chrono::milliseconds> time) {
  const int limit = time ? static_cast<int>(std::max(time->count(), std::chrono::milliseconds::rep{0})) : -1;
  guarded([&] {
    std::array<pollfd, 2> ready{pollfd{parts_->connection.sock(), POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), limit) < 0 && errno != EINTR) throw pqxx::broken_connection();
    if (ready[0].revents != 0) parts_->connection.get_notifs();
  });
}

bool PostgresConnection::is_direct() const { return parts_->direct; }

bool PostgresConnection::broken() const { return parts_->lost || !parts_->connection.is_open(); }

}  // namespace traceweir::store
