#include "server/store/postgres_store.hpp"

namespace traceweir::store {
namespace {

/// The names of the months that lie wholly before this time. They sort as the months do.
std::vector<std::string> months_before(PostgresConnection& connection, Timestamp time) {
  std::vector<std::string> months;
  Rows row = connection.query(
      "SELECT c.relname FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid "
      "WHERE i.inhparent = 'measurement'::regclass AND c.relname COLLATE \"C\" < "
      "measurement_table(measurement_month($1)) "
      "ORDER BY c.relname",
      time);
  while (row.next()) row.read(months.emplace_back());
  return months;
}

/// Deletes the values of the next runs after this row number that were received before. Returns the number of the last
/// one, or nothing where there is none.
std::optional<std::int64_t> delete_some(PostgresConnection& connection, Timestamp time, std::int64_t after) {
  constexpr std::int64_t runs_of_a_month_at_once = 200;
  std::optional<std::int64_t> last;
  Rows row = connection.query(
      "WITH old AS (SELECT seq FROM run WHERE received_us < $1 AND seq > $2 ORDER BY seq LIMIT $3), "
      "gone AS (DELETE FROM measurement v USING old WHERE v.run_seq = old.seq AND v.received_us < $1) "
      "SELECT max(seq) FROM old",
      time, after, runs_of_a_month_at_once);
  if (row.next()) row.read(last);
  return last;
}

}  // namespace

void make_months(PostgresConnection& connection, Timestamp time) {
  connection.query("SELECT make_measurement_months($1)", time);
}

Result<void> PostgresStore::drop_measurements_before(Timestamp time) {
  TRACEWEIR_TRY(months, database_->read([&](PostgresConnection& connection) -> Result<std::vector<std::string>> {
    return months_before(connection, time);
  }));
  for (const std::string& month : months)  // names that we made: digits
    TRACEWEIR_TRY_VOID(database_->write([&](PostgresConnection& connection) -> Result<void> {
      connection.execute("DROP TABLE IF EXISTS \"" + month + '"');
      return {};
    }));
  known_values_.clear();
  std::int64_t after = 0;
  for (;;) {
    TRACEWEIR_TRY(last, database_->write([&](PostgresConnection& connection) -> Result<std::optional<std::int64_t>> {
      return delete_some(connection, time, after);
    }));
    if (!last) break;
    after = *last;
  }
  known_values_.clear();
  return {};
}

}  // namespace traceweir::store
