#include "server/store/sqlite_database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "server/store/sqlite_migrate.hpp"

namespace traceweir::store {
namespace {

tl::unexpected<Error> unavailable(const std::filesystem::path& file, std::string_view why) {
  return fail(ErrorCode::store_unavailable, "store " + file.string() + ": " + std::string(why));
}

constexpr std::chrono::milliseconds leftover_lock_time_max{1000};
constexpr std::chrono::milliseconds leftover_lock_pause{10};

/// Why the last system call on the write-ahead log failed. The connection knows that of statements, not of a COMMIT.
int errno_of_log(Connection& connection) {
  sqlite3_file* file = nullptr;
  int number = 0;
  sqlite3_file_control(connection.database().getHandle(), nullptr, SQLITE_FCNTL_JOURNAL_POINTER, &file);
  if (file != nullptr && file->pMethods != nullptr)
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

/// Whether the system call behind an I/O error failed for want of space: SQLite itself knows ENOSPC only.
bool no_space(Connection& connection) {
  const auto says_so = [](int number) { return number == ENOSPC || number == EDQUOT || number == EFBIG; };
  return says_so(sqlite3_system_errno(connection.database().getHandle())) || says_so(errno_of_log(connection));
}

ErrorCode code_of(Connection& connection, int primary) {
  switch (primary) {
    case SQLITE_FULL:
      return ErrorCode::disk_full;
    case SQLITE_IOERR:
      return no_space(connection) ? ErrorCode::disk_full : ErrorCode::store_unavailable;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      return ErrorCode::internal;
    default:
      return ErrorCode::store_unavailable;
  }
}

}  // namespace

Result<FileDescriptor> lock_service(const std::filesystem::path& file) {
  const std::string path = file.string() + ".lock";
  FileDescriptor lock(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.number() < 0) return unavailable(file, path + ": " + std::strerror(errno));
  // A child that a killed service was just starting holds its lock for a moment longer.
  const auto until = std::chrono::steady_clock::now() + leftover_lock_time_max;
  while (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= until) break;
    std::this_thread::sleep_for(leftover_lock_pause);
  }
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return unavailable(file, "another service is using it");
  return unavailable(file, path + ": " + std::strerror(errno));
}

Result<void> make_private(const std::filesystem::path& file) {
  const FileDescriptor made(::open(file.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (made.number() < 0 && errno != EEXIST) return unavailable(file, std::strerror(errno));
  return {};
}

/// Of several programs that open a new file at once, one makes it so; SQLite does not let the others wait for that.
void use_wal(SQLite::Database& database) {
  constexpr std::chrono::milliseconds pause{5};
  const auto until = std::chrono::steady_clock::now() + lock_time_max;
  for (;;) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& exception) {
      if (exception.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() >= until) throw;
    }
    std::this_thread::sleep_for(pause);
  }
}

void set_up(SQLite::Database& database) {
  use_wal(database);
  database.exec("PRAGMA synchronous = FULL");
  database.exec("PRAGMA foreign_keys = ON");
  database.exec("PRAGMA trusted_schema = OFF");
  database.exec("PRAGMA cache_size = -16384");            // KiB
  database.exec("PRAGMA journal_size_limit = 67108864");  // bytes: a burst of writes does not leave a large WAL
}

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

Query::~Query() {
  statement_.tryReset();
  statement_.clearBindings();
}

Connection::Connection(const std::filesystem::path& file)
    : database_(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX, static_cast<int>(lock_time_max.count())) {
}

SQLite::Statement& Connection::prepared(std::string_view sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return known->second;
  std::string text(sql);
  SQLite::Statement statement(database_, text);
  return statements_.emplace(std::move(text), std::move(statement)).first->second;
}

Error error_of(Connection& connection, const SQLite::Exception& exception) {
  return {code_of(connection, exception.getErrorCode() & 0xff), std::string("store: ") + exception.what()};
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(const std::filesystem::path& file, Opening opening) {
  FileDescriptor lock;
  if (opening == Opening::service) {
    TRACEWEIR_TRY(held, lock_service(file));
    lock = std::move(held);
  }
  TRACEWEIR_TRY_VOID(make_private(file));
  try {
    std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(std::move(lock)));
    if (const auto prepared = database->prepare(file); !prepared) return unavailable(file, prepared.error().message);
    return database;
  } catch (const SQLite::Exception& exception) {
    return unavailable(file, exception.what());
  }
}

Result<void> SqliteDatabase::prepare(const std::filesystem::path& file) {
  auto writer = std::make_unique<Connection>(file);
  TRACEWEIR_TRY_VOID(check_owner(*writer));  // before anything is written into the file, its header included
  set_up(writer->database());
  TRACEWEIR_TRY_VOID(migrate_sqlite(*writer, sqlite_migrations()));
  writer_.add(std::move(writer));
  for (int i = 0; i < reader_count; ++i) {
    auto reader = std::make_unique<Connection>(file);
    set_up(reader->database());
    reader->database().exec("PRAGMA query_only = ON");
    // It forgets its pages whenever something was written: more of them would only be the last long series, once each.
    reader->database().exec("PRAGMA cache_size = -2048");  // KiB
    readers_.add(std::move(reader));
  }
  return {};
}

Result<void> SqliteDatabase::ready() {
  return read([](Connection& connection) -> Result<void> {
    connection.query("SELECT version FROM schema_version LIMIT 1").next();
    return still_in_place(connection);
  });
}

/// A store whose file was moved or deleted still takes writes, which nobody would find again.
Result<void> SqliteDatabase::still_in_place(Connection& connection) {
  int moved = 0;
  sqlite3_file_control(connection.database().getHandle(), nullptr, SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) return fail(ErrorCode::store_unavailable, "store: its file was moved or deleted");
  return {};
}

tl::unexpected<Error> SqliteDatabase::busy(std::string_view who) {
  return fail(ErrorCode::store_unavailable, "store: busy, no " + std::string(who) + " became free");
}

}  // namespace traceweir::store
