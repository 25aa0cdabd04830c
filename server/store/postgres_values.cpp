#include <algorithm>
#include <unordered_map>

#include "server/store/postgres_store.hpp"

namespace traceweir::store {
namespace {

/// From so many runs of a lane on its values are read in their order, not each looked up.
constexpr std::size_t many_runs = 500;

/// (run, metric, value); of a lane also those of other runs.
Rows stored_values(PostgresConnection& connection, const ValuePlaces& places, const std::vector<std::int64_t>& seqs,
                   const std::vector<std::int64_t>& metrics) {
  if (places.lane && seqs.size() >= many_runs)
    return connection.query(
        "SELECT v.run_seq, v.metric_id, v.value FROM measurement v WHERE v.lane_id = $1 AND v.metric_id = ANY "
        "($2::bigint[]) AND v.run_seq >= $3 AND v.received_us BETWEEN $4 AND $5",
        *places.lane, metrics, *std::min_element(seqs.begin(), seqs.end()), places.first, places.last);
  return connection.query(
      "SELECT v.run_seq, v.metric_id, v.value FROM measurement v WHERE v.run_seq = ANY ($1::bigint[]) AND "
      "v.metric_id = ANY ($2::bigint[]) AND v.received_us BETWEEN $3 AND $4",
      seqs, metrics, places.first, places.last);
}

}  // namespace

void read_values(PostgresConnection& connection, const ValuePlaces& places, ValueTable& table, KnownValues& known) {
  const std::vector<std::size_t> missing = known.fill(table);
  if (missing.empty()) return;
  std::unordered_map<std::int64_t, std::size_t> run_of, metric_of;
  std::vector<std::int64_t> seqs, ids;
  for (const std::size_t run : missing) {
    seqs.push_back(places.seqs[run]);
    run_of.emplace(places.seqs[run], run);
  }
  std::int64_t id = 0, seq = 0;
  std::string name;
  Rows names = connection.query("SELECT id, name FROM metric WHERE name = ANY ($1::text[])", table.metrics);
  while (names.next()) {
    names.read(id, name);
    const auto place = std::find(table.metrics.begin(), table.metrics.end(), name) - table.metrics.begin();
    metric_of.emplace(id, static_cast<std::size_t>(place));
    ids.push_back(id);
  }
  double value = 0;
  Rows row = stored_values(connection, places, seqs, ids);
  while (row.next()) {
    row.read(seq, id, value);
    if (const auto run = run_of.find(seq); run != run_of.end()) table.row(run->second)[metric_of.at(id)] = value;
  }
  known.keep(table, missing);
}

}  // namespace traceweir::store
