// Everything that a store holds, carried into another one, of the same kind and of the other.
#include <algorithm>
#include <limits>
#include <pqxx/pqxx>

#include "server/hash/sha256.hpp"
#include "server/store/copy_tables.hpp"
#include "server/store/migrate.hpp"
#include "server/store/tables.hpp"
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

const std::string policy_text = "version = 1\n# \t tab, \\ and \\N\r\n";
const HistoryQuery history_query{
    .project = "llama", .workload = "ddp", .branch = "main", .metric = "gpu.utilization", .now = at(0)};

void add_settings(Store& store) {
  add_project(store);
  Project project;
  project.name = "bert";
  project.policy = policy_text;
  project.created_at = at(-5);
  must(store.put_project(project, audit_entry("project")));
  must(store.put_policy("llama", hash::sha256_hex(policy_text), policy_text, at(3)));
  must(store.add_token({"t1", "aa", "llama", {true, false, false}, "", at(1), at(2), at(3)}, audit_entry("token")));
  must(store.add_token({"t2", "bb", "", {true, true, true}, "a\tnote", at(1), {}, {}}, audit_entry("token")));
  const Commit commits[] = {{"sha-r0", {}, at(7), "first\nline", "änn"}, {"sha-r1", {"sha-r0"}, {}, "", ""}};
  must(store.put_commits("llama", commits));
}

void add_all_kinds_of_runs(Store& store) {
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::string id = "r" + std::to_string(i);
    RunHead head = i == 3 ? full_head(id) : plain_head(id);
    head.received_at = at(10 - i);  // a clock that steps back
    RunResult result = i == 3 ? full_result(id) : plain_result(id, static_cast<double>(i) + 0.1);
    result.in_series = i < 3;
    result.in_baseline = i < 2;
    result.bands = {{"gpu.utilization", {0.1, -0.0, std::numeric_limits<double>::infinity()}}};
    add_run(store, head, result);
  }
  RunHead waiting = plain_head("waiting");
  waiting.group = "group";
  waiting.ranks_expected = 2;
  must(store.begin_run(waiting, upload_of("blob-waiting")));
}

void add_levels(Store& store) {
  CHECK(must(store.identity("the-store")) == "the-store");
  Acceptance acceptance;
  acceptance.id = "a1";
  acceptance.project = "llama";
  acceptance.run = "r2";
  acceptance.values = {{"gpu.utilization", 0.1 + 0.2}};
  acceptance.reason = "larger \"batch\"\n";
  acceptance.created_at = at(100);
  must(store.accept(acceptance, audit_entry("accepted")));
  const Membership membership{"r2", true, {"a1"}};
  must(store.put_memberships(std::span(&membership, 1)));
  SeriesLevels levels;
  levels.key = {"llama", "ddp", "main", "a100"};
  levels.version = must(store.series({levels.key, {"gpu.utilization"}, at(0)})).version;
  StoredChange change;
  change.run = "r2";
  change.previous_run = "r1";
  change.magnitude = 5e-324;
  change.acceptance = "a1";
  levels.changes["gpu.utilization"] = {change};
  levels.segments["gpu.utilization"] = {{"r0", "r2", 3, 0.25, 0, Began::first}};
  levels.told["gpu.utilization"] = {"r2"};
  must(store.put_levels(levels));
}

/// A store with rows in every table. The newest number of its audit log is of no row any more.
void fill(StoreUnderTest& under_test) {
  const auto store = under_test.open();
  add_settings(*store);
  add_all_kinds_of_runs(*store);
  add_levels(*store);
  under_test.execute("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)");
}

const auto quiet = [](const std::string&, std::int64_t) {};

std::vector<TableDigest> digests_of(TableSource& source) {
  std::vector<TableDigest> digests;
  for (const TableShape& table : source.tables()) {
    TableDigester digester;
    must(source.read(table, [&](const Row& row) -> Result<void> {
      digester.add(row);
      return {};
    }));
    digests.push_back(digester.finish(table.name));
  }
  std::sort(digests.begin(), digests.end(), [](const auto& a, const auto& b) { return a.table < b.table; });
  return digests;
}

std::vector<TableDigest> digests_of(const StoreUnderTest& under_test) {
  return digests_of(*must(open_snapshot(under_test.url())));
}

void copy(const StoreUnderTest& from, const StoreUnderTest& to) {
  const auto source = must(open_snapshot(from.url()));
  const auto target = must(open_target(to.url(), source->version()));
  must(copy_tables(*source, *target, quiet));
}

/// Runs `body(from, to)` on new stores of every pair of kinds.
template <typename Body>
void on_each_pair(const Body& body) {
  for (const StoreKind& from : store_kinds())
    for (const StoreKind& to : store_kinds()) {
      CAPTURE(from.name);
      CAPTURE(to.name);
      const auto source = from.make();
      const auto target = to.make();
      body(*source, *target);
    }
}

std::string history_text(const std::vector<HistoryPoint>& points) {
  std::string text;
  for (const HistoryPoint& point : points)
    text += point.run + '=' + std::to_string(point.value) + (point.in_baseline ? "+" : "-") + ' ' + point.subject + ' ';
  return text;
}

std::int64_t newest_audit(const StoreUnderTest& under_test) {
  const auto snapshot = must(open_snapshot(under_test.url()));
  const auto table = std::find_if(snapshot->tables().begin(), snapshot->tables().end(),
                                  [](const TableShape& shape) { return shape.name == "audit"; });
  const auto seq = std::find_if(table->columns.begin(), table->columns.end(),
                                [](const TableColumn& column) { return column.name == "seq"; });
  std::int64_t newest = 0;
  must(snapshot->read(*table, [&](const Row& row) -> Result<void> {
    newest = std::get<std::int64_t>(row[static_cast<std::size_t>(seq - table->columns.begin())]);
    return {};
  }));
  return newest;
}

}  // namespace

TEST_CASE("copy: every table has rows in these tests") {
  on_each_store([](StoreUnderTest& under_test) {
    fill(under_test);
    for (const TableDigest& digest : digests_of(under_test)) {
      CAPTURE(digest.table);
      CHECK_MESSAGE(digest.rows > 0, "give this table a row in fill(), or it is not tested that it is carried");
    }
  });
}

TEST_CASE("copy: both databases have the same tables and columns after each migration") {
  REQUIRE(sqlite_migrations().size() == postgres_migrations().size());
  for (std::size_t version = 1; version <= sqlite_migrations().size(); ++version) {
    CAPTURE(version);
    std::vector<std::string> shapes;
    for (const StoreKind& kind : store_kinds()) {
      const auto under_test = kind.make();
      const auto target = must(open_target(under_test->url(), static_cast<std::int64_t>(version)));
      std::vector<TableShape> tables = target->tables();
      std::sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
      std::string& text = shapes.emplace_back();
      for (const TableShape& table : tables) {
        text += table.name + ':';
        for (const TableColumn& column : table.columns)
          text += ' ' + column.name + ' ' + std::string(word(column.kind));
        text += '\n';
      }
    }
    CHECK_MESSAGE(shapes[0] == shapes[1], "what only one of them has belongs into uncopied_tables, with the reason");
  }
}

TEST_CASE("copy: what arrives is what was there, and the verbs answer the same") {
  on_each_pair([](StoreUnderTest& from, StoreUnderTest& to) {
    fill(from);
    copy(from, to);
    CHECK(digests_of(from) == digests_of(to));
    CHECK(to.damage() == "");
    const auto source = from.open();
    const auto target = to.open();
    CHECK(ids_of(must(target->runs({.project = "llama"}))) == "waiting r3 r2 r1 r0");
    for (const char* run : {"r0", "r1", "r2", "r3", "waiting"})
      CHECK(text_of(*must(source->run("llama", run))) == text_of(*must(target->run("llama", run))));
    CHECK(must(target->policy("llama", hash::sha256_hex(policy_text))) == policy_text);
    CHECK(must(target->project("bert"))->policy == policy_text);
    CHECK(must(target->tokens()).size() == 2);
    CHECK(must(target->token("t2"))->note == "a\tnote");
    CHECK(must(target->token("t1"))->revoked_at == at(3));
    CHECK(must(target->commit("llama", "sha-r1"))->parents == std::vector<std::string>{"sha-r0"});
    CHECK(history_text(must(source->history(history_query))) == history_text(must(target->history(history_query))));
    CHECK(must(target->levels(history_query)).changes.at(0).acceptance == "a1");
    CHECK(must(target->unfinished_runs()).size() == 1);
    CHECK(must(target->baseline({.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"}))
              .size() ==
          must(source->baseline({.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"}))
              .size());
  });
}

TEST_CASE("copy: numbers go on after the highest that was ever given") {
  on_each_pair([](StoreUnderTest& from, StoreUnderTest& to) {
    fill(from);
    copy(from, to);
    const std::int64_t highest = newest_audit(from);
    const auto target = to.open();
    add_project(*target, "third");
    CHECK(newest_audit(to) > highest + 1);  // one was deleted
    add_run(*target, plain_head("next"), plain_result("next"));
    CHECK(ids_of(must(target->runs({.project = "llama", .limit = 2}))) == "next waiting");
    CHECK(must(target->projects()).size() == 3);
  });
}

TEST_CASE("copy: a store with rows takes none, and stays as it is") {
  on_each_pair([](StoreUnderTest& from, StoreUnderTest& to) {
    fill(from);
    add_project(*to.open(), "mine");
    const auto before = digests_of(to);
    CHECK(error_of(open_target(to.url(), must(open_snapshot(from.url()))->version())) == ErrorCode::conflict);
    CHECK(digests_of(to) == before);
  });
}

TEST_CASE("copy: rows that come between opening and beginning are noticed") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto target = must(open_target(under_test.url(), static_cast<std::int64_t>(sqlite_migrations().size())));
    add_project(*under_test.open(Opening::beside_service), "mine");
    CHECK(error_of(target->begin()) == ErrorCode::conflict);
  });
}

TEST_CASE("copy: a snapshot does not change, and nobody waits for it") {
  on_each_store([](StoreUnderTest& under_test) {
    fill(under_test);
    const auto snapshot = must(open_snapshot(under_test.url()));
    const auto before = digests_of(*snapshot);
    const auto store = under_test.open();
    add_run(*store, plain_head("later"), plain_result("later"));
    add_project(*store, "later");
    CHECK(digests_of(*snapshot) == before);
    CHECK(digests_of(under_test) != before);
  });
}

TEST_CASE("copy: a source that breaks off leaves nothing in the target") {
  class Broken final : public TableSource {
   public:
    explicit Broken(TableSource& whole) : whole_(whole) {}
    [[nodiscard]] std::int64_t version() const override { return whole_.version(); }
    [[nodiscard]] const std::vector<TableShape>& tables() const override { return whole_.tables(); }
    Result<void> read(const TableShape& table, const RowSink& sink) override {
      TRACEWEIR_TRY_VOID(whole_.read(table, sink));
      return table.name == "upload" ? fail(ErrorCode::io_failed, "cut") : Result<void>{};
    }

   private:
    TableSource& whole_;
  };
  on_each_pair([](StoreUnderTest& from, StoreUnderTest& to) {
    fill(from);
    const auto source = must(open_snapshot(from.url()));
    Broken broken(*source);
    {
      const auto target = must(open_target(to.url(), source->version()));
      CHECK(error_of(copy_tables(broken, *target, quiet)) == ErrorCode::io_failed);
    }
    for (const TableDigest& digest : digests_of(to)) CHECK(digest.rows == 0);
    copy(from, to);
    CHECK(digests_of(from) == digests_of(to));
  });
}

TEST_CASE("copy: a target that keeps something else is found out") {
  class Forgetful final : public TableTarget {
   public:
    explicit Forgetful(TableTarget& whole) : whole_(whole) {}
    [[nodiscard]] const std::vector<TableShape>& tables() const override { return whole_.tables(); }
    Result<void> begin() override { return whole_.begin(); }
    Result<void> write(const TableShape& table, std::span<const Row> rows) override {
      return whole_.write(table, table.name == "audit" ? rows.first(rows.size() - 1) : rows);
    }
    Result<void> count_from(const TableShape& table, std::int64_t number) override {
      return whole_.count_from(table, number);
    }
    Result<void> read(const TableShape& table, const RowSink& sink) override { return whole_.read(table, sink); }
    Result<void> commit() override { return whole_.commit(); }

   private:
    TableTarget& whole_;
  };
  on_each_pair([](StoreUnderTest& from, StoreUnderTest& to) {
    fill(from);
    const auto source = must(open_snapshot(from.url()));
    {
      const auto target = must(open_target(to.url(), source->version()));
      Forgetful forgetful(*target);
      CHECK(error_of(copy_tables(*source, forgetful, quiet)) == ErrorCode::hash_mismatch);
    }
    for (const TableDigest& digest : digests_of(to)) CHECK(digest.rows == 0);
  });
}

TEST_CASE("copy: tables of an older version are carried first and then brought up to date") {
  on_each_pair([](StoreUnderTest& from, StoreUnderTest& to) {
    {
      const auto made = must(open_target(from.url(), 1));
      from.execute(
          "INSERT INTO policy (sha256, toml) VALUES ('"  // length is checked
          "0123456789012345678901234567890123456789012345678901234567890123', 'version = 1')");
    }
    const auto source = must(open_snapshot(from.url()));
    REQUIRE(source->version() == 1);
    const auto target = must(open_target(to.url(), 1));
    must(copy_tables(*source, *target, quiet));
    CHECK(must(open_snapshot(to.url()))->version() == static_cast<std::int64_t>(sqlite_migrations().size()));
  });
}

TEST_CASE("copy: versions that do not fit are refused") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto latest = static_cast<std::int64_t>(sqlite_migrations().size());
    CHECK(error_of(open_target(under_test.url(), latest + 1)) == ErrorCode::store_unavailable);
    CHECK(error_of(open_target(under_test.url(), 0)) == ErrorCode::store_unavailable);
    CHECK(error_of(open_snapshot(under_test.url())) == ErrorCode::store_unavailable);  // no store yet
    under_test.open();
    CHECK(error_of(open_target(under_test.url(), 1)) == ErrorCode::store_unavailable);
  });
}

TEST_CASE("copy: more rows and longer texts than one batch holds") {
  on_each_pair([](StoreUnderTest& from, StoreUnderTest& to) {
    {
      const auto store = from.open();
      add_project(*store);
      std::vector<Commit> commits;
      for (int i = 0; i < 3'000; ++i) commits.push_back({"sha-" + std::to_string(i), {}, at(i), "", ""});
      must(store->put_commits("llama", commits));
      for (int i = 0; i < 3; ++i) {
        RunResult result = plain_result("long" + std::to_string(i));
        result.report_json = std::string(3'000'000, static_cast<char>('a' + i));
        add_run(*store, plain_head(result.run), result);
      }
    }
    copy(from, to);
    CHECK(digests_of(from) == digests_of(to));
  });
}

TEST_CASE("copy: a table in parts gets those that its rows need") {
  for (const StoreKind& from : store_kinds()) {
    CAPTURE(from.name);
    const auto source = from.make();
    fill(*source);
    const auto target = store_kinds()[1].make();  // Postgres
    target->open();
    {
      pqxx::connection connection(target->url());
      pqxx::nontransaction(connection).exec(R"(
        CREATE TABLE parted (LIKE measurement INCLUDING DEFAULTS) PARTITION BY RANGE (run_seq);
        DROP TABLE measurement;
        ALTER TABLE parted RENAME TO measurement;
        ALTER TABLE measurement ADD PRIMARY KEY (lane_id, metric_id, run_seq);
        CREATE OR REPLACE FUNCTION make_measurement_months(at_us BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$ BEGIN
          EXECUTE format('CREATE TABLE IF NOT EXISTS part_%s PARTITION OF measurement FOR VALUES FROM (%s) TO (%s)',
                         at_us, at_us, at_us + 1); END $$;)");
    }
    copy(*source, *target);
    CHECK(digests_of(*source) == digests_of(*target));
  }
}
