// What only the Postgres store promises: its sessions, whose database it takes, months, the plan of a history.
#include <sys/socket.h>

#include <filesystem>
#include <set>

#include "server/store/postgres_database.hpp"
#include "tests/contract/postgres_under_test.hpp"
#include "tests/contract/samples.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

constexpr const char* end_sessions =
    "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name = 'traceweird' AND "
    "datname = current_database()";

std::string refusal_of(const std::string& url) {
  const auto store = open_store(url, Opening::service);
  REQUIRE_FALSE(store.has_value());
  CHECK(store.error().code == ErrorCode::store_unavailable);
  return store.error().message;
}

std::set<int> open_sockets() {
  std::set<int> sockets;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the listing's own
    const std::string what = std::filesystem::read_symlink(entry.path(), gone);
    if (what.starts_with("socket:")) sockets.insert(std::stoi(entry.path().filename()));
  }
  return sockets;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("postgres: sessions that are ended are replaced, and nothing is noticed") {
  const auto under_test = make_postgres_under_test();
  const auto store = under_test->open();
  add_project(*store);
  for (int i = 0; i < 5; ++i) {
    CHECK(ask_postgres(under_test->url(), end_sessions) != "0");
    const std::string id = "r" + std::to_string(i);
    add_run(*store, plain_head(id), plain_result(id));
    CHECK(ask_postgres(under_test->url(), end_sessions) != "0");
    CHECK(must(store->run("llama", id)).has_value());
    must(store->ready());
  }
}

TEST_CASE("postgres: a session that ends between a result and the end of its transaction spoils no later one") {
  constexpr const char* end_others =
      "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = current_database() AND pid "
      "<> "
      "pg_backend_pid()";
  const std::string url = new_database();
  const auto database = PostgresDatabase::open(url);
  REQUIRE(database.has_value());
  for (int i = 0; i < 5; ++i) {
    const auto read = (*database)->read([&](PostgresConnection& connection) -> Result<std::int64_t> {
      const std::int64_t count = connection.query("SELECT 1").count();
      CHECK(ask_postgres(url, end_others) != "0");
      return count;
    });
    CHECK(must(read) == 1);
    CHECK(must((*database)->ask([](PostgresConnection& connection) -> Result<std::int64_t> {
            return connection.query("SELECT 1").count();
          })) == 1);
  }
}

TEST_CASE("postgres: a session that is cut off without a word is replaced, whatever comes next") {
  const auto database = PostgresDatabase::open(new_database());
  REQUIRE(database.has_value());
  const auto one = [](PostgresConnection& connection) -> Result<std::int64_t> {
    return connection.query("SELECT 1").count();
  };
  const std::set<int> others = open_sockets();
  for (int i = 0; i < 4; ++i) {
    CHECK(must((*database)->read(one)) == 1);
    for (const int socket : open_sockets())
      if (!others.contains(socket)) ::shutdown(socket, SHUT_RDWR);
    CHECK(must(i % 2 == 0 ? (*database)->read(one) : (*database)->ask(one)) == 1);
  }
}

TEST_CASE("postgres: another program's database, and one of another encoding, are refused and left alone") {
  const std::string foreign = new_database();
  ask_postgres(foreign, "CREATE TABLE customer (id INTEGER)");
  CHECK(contains(refusal_of(foreign), "another program"));
  CHECK(ask_postgres(foreign, "SELECT count(*) FROM pg_class WHERE relname IN ('schema_version', 'run')") == "0");
  const std::string latin = new_database("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  CHECK(contains(refusal_of(latin), "LATIN1"));
  std::string missing = new_database();
  missing.insert(missing.find('?'), "_not");
  CHECK(contains(refusal_of(missing), "does not exist"));
}

TEST_CASE("postgres: a text that cannot be held is refused, and found nowhere") {
  const auto under_test = make_postgres_under_test();
  const auto store = under_test->open();
  add_project(*store);
  using namespace std::string_literals;
  for (const std::string& text : {"a\0b"s, "\xff"s, "\xed\xa0\x80"s}) {
    RunHead head = plain_head("r1");
    head.environment = {{"name", text}};
    CHECK(error_of(store->begin_run(head, upload_of("blob"))) == ErrorCode::bad_query);
    CHECK_FALSE(must(store->token(text)).has_value());
    CHECK_FALSE(must(store->project(text)).has_value());
    CHECK(must(store->runs({.project = "llama", .branch = text})).empty());
  }
  CHECK_FALSE(must(store->blob_in_use("blob")));
}

TEST_CASE("postgres: an error rolls back, and the connection goes on") {
  const std::string url = new_database();
  const auto database = must(PostgresDatabase::open(url));
  const auto insert = [](PostgresConnection& c) { c.execute("INSERT INTO metric (name) VALUES ($1)", "m"); };
  const auto refused = [&](PostgresConnection& c) -> Result<void> {
    insert(c);
    return fail(ErrorCode::conflict, "no");
  };
  const auto twice = [&](PostgresConnection& c) -> Result<void> {
    insert(c);
    insert(c);
    return {};
  };
  const auto slow = [](PostgresConnection& c) -> Result<void> {
    c.execute("SET LOCAL statement_timeout = 10");
    c.query("SELECT pg_sleep(10)");
    return {};
  };
  const auto once = [&](PostgresConnection& c) -> Result<void> {
    insert(c);
    return {};
  };
  CHECK(error_of(database->write(refused)) == ErrorCode::conflict);
  CHECK(error_of(database->write(twice)) == ErrorCode::internal);
  CHECK(error_of(database->write(slow)) == ErrorCode::store_unavailable);
  CHECK(error_of(database->read(once)) == ErrorCode::store_unavailable);  // a reader cannot write
  must(database->write(once));
}

TEST_CASE("postgres: a transaction that is refused for the sake of another one is run again, but not for ever") {
  const std::string url = new_database();
  const auto database = must(PostgresDatabase::open(url));
  int runs = 0;
  const auto raise = [](PostgresConnection& c, const char* code) {
    c.run_script("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '" + std::string(code) + "'; END $$");
  };
  const auto third_time = [&](PostgresConnection& c) -> Result<int> {
    if (++runs < 3) raise(c, runs == 1 ? "40001" : "40P01");
    return runs;
  };
  CHECK(must(database->write(third_time)) == 3);
  runs = 0;
  const auto never = [&](PostgresConnection& c) -> Result<void> {
    ++runs;
    raise(c, "40001");
    return {};
  };
  CHECK(error_of(database->write(never)) == ErrorCode::store_unavailable);
  CHECK(runs == PostgresLimits::tries);
  const auto full = [&](PostgresConnection& c) -> Result<void> {
    raise(c, "53100");
    return {};
  };
  CHECK(error_of(database->write(full)) == ErrorCode::disk_full);
}

TEST_CASE("postgres: a page of a history is read from the indexes of its months alone") {
  const auto under_test = make_postgres_under_test();
  const auto store = under_test->open();
  add_project(*store);
  for (int i = 0; i < 100; ++i) {
    RunHead head = plain_head("r" + std::to_string(i));
    head.received_at = at(i * 86'400);
    RunResult result = plain_result(head.id);
    for (int m = 0; m < 50; ++m) result.values.emplace_back("metric" + std::to_string(m), i);
    add_run(*store, head, result);
  }
  under_test->execute("SELECT 1");  // and VACUUM ANALYZE
  const std::string plan =
      ask_postgres(under_test->url(),
                   "SET enable_seqscan = off; EXPLAIN (FORMAT JSON) SELECT run_seq, value FROM measurement "
                   "WHERE lane_id = 1 AND metric_id = 1 ORDER BY run_seq DESC LIMIT 10");
  CAPTURE(plan);
  CHECK(contains(plan, "Merge Append"));
  std::size_t scans = 0;  // of the months that hold something: of others the planner knows nothing
  for (std::size_t place = plan.find("Index Only Scan"); place != plan.npos;
       place = plan.find("Index Only Scan", place + 1))
    ++scans;
  CHECK(scans >= 4);
  CHECK_FALSE(contains(plan, "Bitmap"));
  CHECK_FALSE(contains(plan, "Seq Scan"));
  CHECK_FALSE(contains(plan, "\"Sort\""));
}

TEST_CASE("postgres: a statement is prepared once, and a session that does not know it is asked without it") {
  const auto under_test = make_postgres_under_test();
  const auto store = under_test->open();
  PostgresConnection connection(under_test->url());
  const auto prepared = [&] {
    std::int64_t count = 0;
    Rows row = connection.query("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%tenfold%'");
    REQUIRE(row.next());
    row.read(count);
    return count;
  };
  const auto tenfold = [&](std::int64_t number) {
    std::int64_t answer = 0;
    Rows row = connection.query("SELECT 10 * $1::bigint AS tenfold", number);
    REQUIRE(row.next());
    row.read(answer);
    return answer;
  };
  connection.begin(Access::reading, "SET LOCAL jit = off");
  CHECK(tenfold(4) == 40);
  CHECK(tenfold(5) == 50);
  CHECK(prepared() == 2);  // itself, too

  // As where a pooler hands the next transaction to another session.
  connection.run_script("DEALLOCATE ALL");
  try {
    tenfold(6);
    FAIL("an unknown statement was answered");
  } catch (const PostgresFailure& failure) {
    CHECK(failure.fault() == PostgresFault::again);
  }
  connection.roll_back();
  CHECK_FALSE(connection.broken());
  connection.begin(Access::reading, "SET LOCAL jit = off");
  CHECK(tenfold(6) == 60);
  CHECK(prepared() == 0);
  connection.roll_back();
}
