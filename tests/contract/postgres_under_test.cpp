#include "tests/contract/postgres_under_test.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pqxx/pqxx>

namespace traceweir::contract {
namespace {

/// The shared cluster of tests/support/postgres.py, held as long as this program lives, however it ends: it reads its
/// stdin.
class Cluster {
 public:
  Cluster() {
    int to_child[2], from_child[2];
    REQUIRE(::pipe2(to_child, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(from_child, O_CLOEXEC) == 0);
    guard_ = ::fork();
    REQUIRE(guard_ >= 0);
    if (guard_ == 0) {
      ::dup2(to_child[0], STDIN_FILENO);
      ::dup2(from_child[1], STDOUT_FILENO);
      ::execlp("python3", "python3", "tests/support/postgres.py", nullptr);
      ::_exit(127);
    }
    ::close(to_child[0]);
    ::close(from_child[1]);
    life_ = to_child[1];
    read_folder(from_child[0]);
    ::close(from_child[0]);
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() {
    ::close(life_);
    ::waitpid(guard_, nullptr, 0);
  }

  std::string url(const std::string& database, const char* user) const {
    return "postgresql:///" + database + "?host=" + folder_ + "&user=" + user;
  }

 private:
  void read_folder(int pipe) {
    char c = 0;
    while (::read(pipe, &c, 1) == 1 && c != '\n') folder_ += c;
    REQUIRE_MESSAGE(c == '\n', "the Postgres cluster did not start");
  }

  pid_t guard_ = -1;
  int life_ = -1;
  std::string folder_;
};

const Cluster& cluster() {
  static const Cluster joined;  // one for all tests of the program
  return joined;
}

void run(const std::string& url, const std::string& sql) {
  pqxx::connection connection(url);
  pqxx::nontransaction(connection).exec(sql);
}

std::string answer(const std::string& url, const std::string& sql) {
  pqxx::connection connection(url);
  pqxx::nontransaction session(connection);
  const pqxx::result rows = session.exec(sql);
  return rows.empty() ? "" : rows[0][static_cast<pqxx::row::size_type>(0)].c_str();
}

std::string make_database(const std::string& options) {
  static int number = 0;
  const std::string name = "store_" + std::to_string(::getpid()) + "_" + std::to_string(++number);
  run(cluster().url("postgres", "postgres"), "CREATE DATABASE " + name + " OWNER traceweir " + options);
  return name;
}

/// Every B-tree: its order, and that it has every row of its table.
constexpr const char* check_indexes =
    "CREATE EXTENSION IF NOT EXISTS amcheck;"
    "SELECT count(bt_index_parent_check(c.oid, TRUE)) FROM pg_class c JOIN pg_am a ON a.oid = c.relam "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'i' AND a.amname = 'btree' "
    "AND n.nspname IN ('public', 'pg_toast') AND c.relpersistence = 'p'";

/// Every table: its pages and rows.
constexpr const char* check_tables =
    "SELECT string_agg(c.relname || ': ' || h.msg, '; ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "CROSS JOIN LATERAL verify_heapam(c.oid) h WHERE c.relkind IN ('r', 't') AND n.nspname IN ('public', 'pg_toast')";

/// Adding a foreign key once more makes the server compare all rows.
constexpr const char* check_references =
    "BEGIN; DO $$ DECLARE k record; BEGIN "
    "FOR k IN SELECT conrelid::regclass AS owner, pg_get_constraintdef(oid) AS definition FROM pg_constraint "
    "WHERE contype = 'f' LOOP "
    "EXECUTE format('ALTER TABLE %s ADD CONSTRAINT checked_again %s', k.owner, k.definition); "
    "EXECUTE format('ALTER TABLE %s DROP CONSTRAINT checked_again', k.owner); END LOOP; END $$; ROLLBACK";

class PostgresUnderTest final : public StoreUnderTest {
 public:
  PostgresUnderTest() : name_(make_database("")) {}
  ~PostgresUnderTest() override {
    try {
      run(cluster().url("postgres", "postgres"), "DROP DATABASE " + name_ + " WITH (FORCE)");
    } catch (const std::exception&) {
      // The cluster goes with the program.
    }
  }

  std::string url() const override { return cluster().url(name_, "traceweir"); }

  /// Much at once: foreign keys are not looked at row by row (damage() does it), and the planner is told what came.
  void execute(const char* sql) override {
    pqxx::connection connection(cluster().url(name_, "postgres"));
    pqxx::nontransaction session(connection);
    session.exec("SET session_replication_role = replica");
    session.exec(sql);
    session.exec("VACUUM ANALYZE");
  }

  std::string damage() override {
    const std::string url = cluster().url(name_, "postgres");
    try {
      run(url, check_indexes);
      run(url, check_references);
      return answer(url, check_tables);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  void fill_disk() override {
    run(cluster().url(name_, "postgres"),
        "CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF (SELECT sum(length(toml)) FROM policy) > 4194304 THEN RAISE EXCEPTION 'could not extend file: No space "
        "left on device' USING ERRCODE = 'disk_full'; END IF; RETURN NEW; END $$;"
        "CREATE TRIGGER no_space BEFORE INSERT ON policy FOR EACH ROW EXECUTE FUNCTION no_space()");
  }
  void free_disk() override { run(cluster().url(name_, "postgres"), "DROP FUNCTION no_space CASCADE"); }

 private:
  std::string name_;
};

}  // namespace

std::unique_ptr<StoreUnderTest> make_postgres_under_test() { return std::make_unique<PostgresUnderTest>(); }

std::string new_database(const std::string& options) { return cluster().url(make_database(options), "traceweir"); }

std::string ask_postgres(const std::string& url, const std::string& sql) {
  std::string as_superuser = url;
  const std::string user = "user=traceweir";
  as_superuser.replace(as_superuser.find(user), user.size(), "user=postgres");
  return answer(as_superuser, sql);
}

}  // namespace traceweir::contract
