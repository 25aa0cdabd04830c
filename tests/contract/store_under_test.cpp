#include "tests/contract/store_under_test.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/contract/postgres_under_test.hpp"

namespace traceweir::contract {
namespace {

class SqliteUnderTest final : public StoreUnderTest {
 public:
  SqliteUnderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "traceweir-contract-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~SqliteUnderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string url() const override { return "sqlite:" + file().string(); }

  void execute(const char* sql) override {
    SQLite::Database database(file(), SQLite::OPEN_READWRITE, 5'000);
    database.exec(sql);
  }

  std::string damage() override {
    SQLite::Database database(file(), SQLite::OPEN_READWRITE);
    const std::string answer = database.execAndGet("PRAGMA integrity_check").getString();
    if (answer != "ok") return answer;
    SQLite::Statement orphans(database, "PRAGMA foreign_key_check");
    return orphans.executeStep() ? "a row of " + orphans.getColumn(0).getString() + " refers to nothing" : "";
  }

  /// No file of this process may grow beyond 4 MiB.
  void fill_disk() override {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &room_);
    const rlimit small{rlim_t{4} << 20, room_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  void free_disk() override { ::setrlimit(RLIMIT_FSIZE, &room_); }

 private:
  std::filesystem::path file() const { return folder_ / "store.db"; }

  std::filesystem::path folder_;
  rlimit room_{};
};

constexpr StoreKind kinds[] = {
    {"sqlite", []() -> std::unique_ptr<StoreUnderTest> { return std::make_unique<SqliteUnderTest>(); }},
    {"postgres", &make_postgres_under_test},
};

}  // namespace

std::span<const StoreKind> store_kinds() { return kinds; }

}  // namespace traceweir::contract
