#include <algorithm>
#include <unordered_map>

#include "server/store/sqlite_store.hpp"

namespace traceweir::store {
namespace {

struct SeriesRows {
  std::vector<std::int64_t> seqs;  ///< ascending, as `runs`
  std::vector<SeriesRun> runs;
  std::int64_t lane = 0;
};

struct SeriesRow {
  std::int64_t id = 0, lane = 0, version = 0;
};

std::optional<SeriesRow> series_row(Connection& connection, const SeriesKey& key) {
  Query row = connection.query(
      "SELECT s.id, s.lane_id, s.version FROM project p JOIN lane l ON l.project_id = p.id "
      "JOIN series s ON s.lane_id = l.id WHERE p.name = ?1 AND l.workload = ?2 AND l.branch = ?3 "
      "AND s.comparable_key = ?4",
      key.project, key.workload, key.branch, key.comparable_key);
  if (!row.next()) return std::nullopt;
  SeriesRow series;
  row.read(series.id, series.lane, series.version);
  return series;
}

SeriesRows rows_of(Connection& connection, std::int64_t lane, const SeriesQuery& query) {
  SeriesRows rows;
  rows.lane = lane;
  Query row = connection.query(
      "SELECT r.seq, r.id, r.commit_sha, r.in_baseline, r.received_us, c.committed_us FROM run r LEFT JOIN commit_node "
      "c ON c.project_id = r.project_id AND c.sha = r.commit_sha WHERE r.in_series = 1 AND r.lane_id = ?1 "
      "AND r.comparable_key = ?2 ORDER BY r.seq DESC LIMIT ?3",
      lane, query.key.comparable_key, std::max<std::int64_t>(query.limit, 0));
  while (row.next()) {
    SeriesRun& run = rows.runs.emplace_back();
    row.read(rows.seqs.emplace_back(), run.run, run.commit, run.counts, run.received_at, run.committed_at);
  }
  std::reverse(rows.seqs.begin(), rows.seqs.end());
  std::reverse(rows.runs.begin(), rows.runs.end());
  return rows;
}

/// The values of a metric, in the order of `rows`: both are read by row number.
std::vector<std::optional<double>> values_of(Connection& connection, const SeriesRows& rows,
                                             const std::string& metric) {
  std::vector<std::optional<double>> values(rows.seqs.size());
  if (rows.seqs.empty()) return values;
  Query row = connection.query(
      "SELECT v.run_seq, v.value FROM metric m JOIN measurement v ON v.metric_id = m.id "
      "WHERE m.name = ?2 AND v.lane_id = ?1 AND v.run_seq >= ?3 ORDER BY v.run_seq",
      rows.lane, metric, rows.seqs.front());
  std::size_t place = 0;
  std::int64_t seq = 0;
  double value = 0;
  while (row.next()) {
    row.read(seq, value);
    while (place < rows.seqs.size() && rows.seqs[place] < seq) ++place;
    if (place < rows.seqs.size() && rows.seqs[place] == seq) values[place] = value;
  }
  return values;
}

std::vector<std::string> told_of(Connection& connection, std::int64_t series, const std::string& metric) {
  std::vector<std::string> told;
  Query row = connection.query(
      "SELECT r.id FROM metric m JOIN told_drift t ON t.metric_id = m.id JOIN run r ON r.seq = t.run_seq "
      "WHERE m.name = ?2 AND t.series_id = ?1 ORDER BY t.run_seq",
      series, metric);
  while (row.next()) row.read(told.emplace_back());
  return told;
}

template <typename T>
std::vector<T> reordered(std::vector<T> values, const std::vector<std::size_t>& order) {
  std::vector<T> out;
  out.reserve(values.size());
  for (const std::size_t i : order) out.push_back(std::move(values[i]));
  return out;
}

void replace_changes(Connection& connection, std::int64_t series, const std::string& metric,
                     const std::vector<StoredChange>& changes) {
  connection.execute(
      "DELETE FROM change_point WHERE series_id = ?1 AND metric_id = (SELECT id FROM metric WHERE name = ?2)", series,
      metric);
  for (const StoredChange& change : changes)
    connection.execute(
        "INSERT INTO change_point (series_id, metric_id, run_seq, previous_seq, before_value, after_value, magnitude, "
        "p, better, acceptance_seq) SELECT ?1, m.id, r.seq, b.seq, ?5, ?6, ?7, ?8, ?9, "
        "(SELECT seq FROM acceptance WHERE id = ?10) FROM metric m, run r, run b "
        "WHERE m.name = ?2 AND r.id = ?3 AND b.id = ?4",
        series, metric, change.run, change.previous_run, change.before, change.after, change.magnitude, change.p,
        change.better, change.acceptance);
}

void replace_segments(Connection& connection, std::int64_t series, const std::string& metric,
                      const std::vector<StoredSegment>& segments) {
  connection.execute("DELETE FROM segment WHERE series_id = ?1 AND metric_id = (SELECT id FROM metric WHERE name = ?2)",
                     series, metric);
  for (const StoredSegment& segment : segments)
    connection.execute(
        "INSERT INTO segment (series_id, metric_id, first_seq, last_seq, runs, level, noise, began) "
        "SELECT ?1, m.id, r.seq, b.seq, ?5, ?6, ?7, ?8 FROM metric m, run r, run b "
        "WHERE m.name = ?2 AND r.id = ?3 AND b.id = ?4",
        series, metric, segment.first_run, segment.last_run, segment.runs, segment.level, segment.noise,
        word(segment.began));
}

void tell(Connection& connection, std::int64_t series, const std::string& metric,
          const std::vector<std::string>& runs) {
  for (const std::string& run : runs)
    connection.execute(
        "INSERT INTO told_drift (series_id, metric_id, run_seq) SELECT ?1, m.id, r.seq FROM metric m, run r "
        "WHERE m.name = ?2 AND r.id = ?3 ON CONFLICT DO NOTHING",
        series, metric, run);
}

/// The condition that both lists share; ?1 … ?4 are of the query, ?5 the time.
std::string where(const HistoryQuery& query) {
  std::string sql = " WHERE p.name = ?1 AND l.workload = ?2 AND m.name = ?3";
  sql += query.branch.empty() ? " AND ?4 = ''" : " AND l.branch = ?4";
  sql += query.environment.empty() ? " AND ?5 = ''" : " AND s.comparable_key = ?5";
  return sql;
}

std::vector<StoredChange> changes_of(Connection& connection, const HistoryQuery& query) {
  std::vector<StoredChange> changes;
  Query row = connection.query(
      "SELECT r.id, r.commit_sha, b.id, b.commit_sha, c.before_value, c.after_value, c.magnitude, c.p, c.better, "
      "coalesce(a.id, ''), a.id IS NOT NULL AND a.undone_us IS NULL AND (a.until_us IS NULL OR a.until_us > ?6), "
      "s.comparable_key FROM project p JOIN lane l ON l.project_id = p.id JOIN series s ON s.lane_id = l.id "
      "JOIN metric m JOIN change_point c ON c.series_id = s.id AND c.metric_id = m.id JOIN run r ON r.seq = c.run_seq "
      "JOIN run b ON b.seq = c.previous_seq LEFT JOIN acceptance a ON a.seq = c.acceptance_seq" +
          where(query) + " ORDER BY s.id, c.run_seq",
      query.project, query.workload, query.metric, query.branch, query.environment, query.now);
  while (row.next()) {
    StoredChange& change = changes.emplace_back();
    row.read(change.run, change.commit, change.previous_run, change.previous_commit, change.before, change.after,
             change.magnitude, change.p, change.better, change.acceptance, change.accepted, change.comparable_key);
  }
  return changes;
}

std::vector<StoredSegment> segments_of(Connection& connection, const HistoryQuery& query) {
  std::vector<StoredSegment> segments;
  Query row = connection.query(
      "SELECT r.id, r.commit_sha, b.id, b.commit_sha, c.runs, c.level, c.noise, c.began, s.comparable_key "
      "FROM project p JOIN lane l ON l.project_id = p.id JOIN series s ON s.lane_id = l.id JOIN metric m "
      "JOIN segment c ON c.series_id = s.id AND c.metric_id = m.id JOIN run r ON r.seq = c.first_seq "
      "JOIN run b ON b.seq = c.last_seq" +
          where(query) + " ORDER BY s.id, c.first_seq",
      query.project, query.workload, query.metric, query.branch, query.environment);
  std::string began;
  while (row.next()) {
    StoredSegment& segment = segments.emplace_back();
    row.read(segment.first_run, segment.first_commit, segment.last_run, segment.last_commit, segment.runs,
             segment.level, segment.noise, began, segment.comparable_key);
    segment.began = known(began_of(began));
  }
  return segments;
}

}  // namespace

Result<Series> SqliteStore::series(const SeriesQuery& query) {
  return database_->read([&](Connection& connection) -> Result<Series> {
    Series series;
    const auto found = series_row(connection, query.key);
    const auto project = project_number(connection, query.key.project);
    if (!found || !project) return series;
    series.version = found->version;
    SeriesRows rows = rows_of(connection, found->lane, query);
    const std::set<std::int64_t> gone = leaning_on_ended(connection, *project, query.now);
    std::vector<std::string_view> commits;
    for (std::size_t i = 0; i < rows.runs.size(); ++i) {
      rows.runs[i].counts = rows.runs[i].counts && !gone.contains(rows.seqs[i]);
      commits.push_back(rows.runs[i].commit);
    }
    const std::vector<std::size_t> order = order_of(connection, *project, commits);
    for (const std::string& metric : query.metrics) {
      series.values[metric] = reordered(values_of(connection, rows, metric), order);
      series.told[metric] = told_of(connection, found->id, metric);
    }
    series.runs = reordered(std::move(rows.runs), order);
    return series;
  });
}

Result<void> SqliteStore::put_levels(const SeriesLevels& levels) {
  return database_->write([&](Connection& connection) -> Result<void> {
    const auto series = series_row(connection, levels.key);
    if (!series || series->version != levels.version)
      return fail(ErrorCode::conflict, "the series has changed since it was read");
    for (const auto& [metric, changes] : levels.changes) replace_changes(connection, series->id, metric, changes);
    for (const auto& [metric, segments] : levels.segments) replace_segments(connection, series->id, metric, segments);
    for (const auto& [metric, runs] : levels.told) tell(connection, series->id, metric, runs);
    if (!levels.run.empty())
      connection.execute("UPDATE run_document SET verdict = ?2 WHERE run_seq = (SELECT seq FROM run WHERE id = ?1)",
                         levels.run, levels.verdict_json);
    return {};
  });
}

Result<Levels> SqliteStore::levels(const HistoryQuery& query) {
  return database_->read([&](Connection& connection) -> Result<Levels> {
    return Levels{changes_of(connection, query), segments_of(connection, query)};
  });
}

}  // namespace traceweir::store
