// What only the SQLite store promises: its file, its settings, its lock.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "server/store/sqlite_migrate.hpp"
#include "server/store/store.hpp"

using namespace traceweir;
using namespace traceweir::store;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "traceweir-store-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

Result<std::unique_ptr<Store>> open_file(const std::filesystem::path& file) {
  return open_store("sqlite:" + file.string(), Opening::service);
}

mode_t mode_of_file(const std::filesystem::path& file) {
  struct stat facts {};
  REQUIRE(::stat(file.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

std::string refusal_of(const std::filesystem::path& file) {
  const auto store = open_file(file);
  REQUIRE_FALSE(store.has_value());
  CHECK(store.error().code == ErrorCode::store_unavailable);
  return store.error().message;
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Project named(std::string_view name) {
  Project project;
  project.name = name;
  return project;
}

}  // namespace

TEST_CASE("sqlite: only the owner can read the files, whatever the umask") {
  const Folder folder;
  const mode_t before = ::umask(0);
  const auto store = open_file(folder / "a.db");
  ::umask(before);
  REQUIRE(store.has_value());
  REQUIRE((*store)->put_project(named("p"), {}).has_value());
  for (const char* name : {"a.db", "a.db-wal", "a.db-shm", "a.db.lock"}) {
    CAPTURE(name);
    CHECK(mode_of_file(folder / name) == 0600);
  }
}

TEST_CASE("sqlite: commits are on disk before they are acknowledged") {
  const Folder folder;
  const auto database = SqliteDatabase::open(folder / "a.db", Opening::service);
  REQUIRE(database.has_value());
  const auto setting = [](Connection& connection, const char* pragma) {
    return connection.database().execAndGet(pragma).getString();
  };
  const auto journal = [&](Connection& c) -> Result<std::string> { return setting(c, "PRAGMA journal_mode"); };
  const auto synchronous = [&](Connection& c) -> Result<std::string> { return setting(c, "PRAGMA synchronous"); };
  const auto keys = [&](Connection& c) -> Result<std::string> { return setting(c, "PRAGMA foreign_keys"); };
  const auto read_only = [&](Connection& c) -> Result<std::string> { return setting(c, "PRAGMA query_only"); };
  CHECK((*database)->write(journal).value() == "wal");
  CHECK((*database)->write(synchronous).value() == "2");
  CHECK((*database)->write(keys).value() == "1");
  CHECK((*database)->read(journal).value() == "wal");
  CHECK((*database)->read(read_only).value() == "1");
}

TEST_CASE("sqlite: an error rolls back, an exception becomes an error, and both leave the store usable") {
  const Folder folder;
  const auto database = SqliteDatabase::open(folder / "a.db", Opening::service);
  REQUIRE(database.has_value());
  const auto insert = [](Connection& c) { c.execute("INSERT INTO metric (name) VALUES (?1)", "m"); };
  const auto refused = [&](Connection& c) -> Result<void> {
    insert(c);
    return fail(ErrorCode::conflict, "no");
  };
  const auto thrown = [&](Connection& c) -> Result<void> {
    insert(c);
    insert(c);
    return {};
  };
  const auto misspelt = [](Connection& c) -> Result<void> {
    c.execute("SELEC 1");
    return {};
  };
  const auto kept = [&](Connection& c) -> Result<void> {
    insert(c);
    return {};
  };
  CHECK((*database)->write(refused).error().code == ErrorCode::conflict);
  CHECK((*database)->write(thrown).error().code == ErrorCode::internal);
  CHECK((*database)->write(misspelt).error().code == ErrorCode::store_unavailable);
  CHECK((*database)->read(kept).error().code == ErrorCode::store_unavailable);  // readers cannot write
  CHECK((*database)->write(kept).has_value());
}

TEST_CASE("sqlite: another program's write lock makes a write fail in time, and reads go on") {
  const Folder folder;
  const auto store = open_file(folder / "a.db");
  REQUIRE(store.has_value());
  SQLite::Database other((folder / "a.db").string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  const auto refused = (*store)->put_project(named("p"), {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::store_unavailable);
  CHECK((*store)->ready().has_value());
  CHECK((*store)->projects().has_value());
  other.exec("ROLLBACK");
  CHECK((*store)->put_project(named("p"), {}).has_value());
}

TEST_CASE("sqlite: a file that was moved or deleted takes no more writes") {
  const Folder folder;
  const auto store = open_file(folder / "a.db");
  REQUIRE(store.has_value());
  std::filesystem::rename(folder / "a.db", folder / "b.db");
  CHECK(mentions((*store)->ready().error().message, "moved or deleted"));
  CHECK((*store)->put_project(named("p"), {}).error().code == ErrorCode::store_unavailable);
  std::filesystem::rename(folder / "b.db", folder / "a.db");
  CHECK((*store)->put_project(named("p"), {}).has_value());
}

TEST_CASE("sqlite: files that are no store are refused and left as they are") {
  const Folder folder;
  {
    SQLite::Database other((folder / "report.sqlite").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE StringIds (id INTEGER, value TEXT)");
  }
  std::ofstream(folder / "text.db") << std::string(4'096, 'x');
  const auto bytes_of = [](const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = bytes_of(folder / "report.sqlite");
  CHECK(mentions(refusal_of(folder / "report.sqlite"), "another program"));
  CHECK(bytes_of(folder / "report.sqlite") == before);
  CHECK(mentions(refusal_of(folder / "text.db"), "not a database"));
  CHECK(mentions(refusal_of(folder / "no" / "such.db"), "No such file"));
  CHECK(mentions(refusal_of(folder / ""), ""));
}

TEST_CASE("sqlite: a path is never a URI") {
  const Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  const auto store = open_store("sqlite:file:x.db?mode=memory", Opening::service);
  std::filesystem::current_path(before);
  REQUIRE(store.has_value());
  CHECK(std::filesystem::exists(folder / "file:x.db?mode=memory"));
}

TEST_CASE("sqlite: a migration that fails leaves nothing of itself") {
  const Folder folder;
  std::ofstream(folder / "a.db").flush();
  Connection connection(folder / "a.db");
  const Migration good{1, "V001__good.sql", "aa", "CREATE TABLE one (x INTEGER); INSERT INTO one VALUES (1);"};
  const Migration bad{2, "V002__bad.sql", "bb", "CREATE TABLE two (x INTEGER); INSERT INTO nowhere VALUES (1);"};
  const Migration mended{2, "V002__bad.sql", "cc", "CREATE TABLE two (x INTEGER);"};
  const auto tables = [&] {
    return connection.database().execAndGet("SELECT group_concat(name) FROM sqlite_schema").getString();
  };
  CHECK_THROWS_AS(migrate_sqlite(connection, std::array{good, bad}).has_value(), SQLite::Exception);
  CHECK(tables() == "schema_version,one");
  CHECK(migrate_sqlite(connection, std::array{good, mended}).has_value());
  CHECK(migrate_sqlite(connection, std::array{good, mended}).has_value());  // nothing is applied twice
  CHECK(tables() == "schema_version,one,two");
  CHECK(migrate_sqlite(connection, std::array{good, bad}).error().code == ErrorCode::store_unavailable);
  CHECK(migrate_sqlite(connection, std::array{good}).error().code == ErrorCode::store_unavailable);
}

TEST_CASE("store: words, both ways") {
  for (const Mode mode : {Mode::gate, Mode::observe}) CHECK(mode_of(word(mode)) == mode);
  for (const PolicySource source : {PolicySource::repository, PolicySource::server})
    CHECK(policy_source_of(word(source)) == source);
  for (const ReadAccess access : {ReadAccess::token, ReadAccess::everyone})
    CHECK(read_access_of(word(access)) == access);
  for (const RunStatus status : {RunStatus::pending, RunStatus::analysing, RunStatus::judged, RunStatus::rejected})
    CHECK(run_status_of(word(status)) == status);
  CHECK(word(ReadAccess::everyone) == "public");
  CHECK_FALSE(mode_of("Gate").has_value());
  CHECK_FALSE(run_status_of("").has_value());
}
