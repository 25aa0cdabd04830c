#include <algorithm>

#include "server/store/postgres_store.hpp"

namespace traceweir::store {
namespace {

struct SeriesRow {
  std::int64_t id = 0, lane = 0, version = 0;
};

constexpr std::string_view select_series =
    "SELECT s.id, s.lane_id, s.version FROM project p JOIN lane l ON l.project_id = p.id "
    "JOIN series s ON s.lane_id = l.id WHERE p.name = $1 AND l.workload = $2 AND l.branch = $3 "
    "AND s.comparable_key = $4";

std::optional<SeriesRow> series_row(PostgresConnection& connection, const SeriesKey& key, std::string_view locking) {
  Rows row = connection.query(std::string(select_series) + std::string(locking), key.project, key.workload, key.branch,
                              key.comparable_key);
  if (!row.next()) return std::nullopt;
  SeriesRow series;
  row.read(series.id, series.lane, series.version);
  return series;
}

struct SeriesRows {
  std::vector<std::int64_t> seqs;  ///< ascending, as `runs`
  std::vector<SeriesRun> runs;
};

SeriesRows rows_of(PostgresConnection& connection, std::int64_t lane, const SeriesQuery& query) {
  SeriesRows rows;
  Rows row = connection.query(
      "SELECT r.seq, r.id, r.commit_sha, r.in_baseline, r.received_us, c.committed_us FROM (SELECT * FROM run "
      "WHERE in_series AND lane_id = $1 AND comparable_key = $2 ORDER BY seq DESC LIMIT $3) r LEFT JOIN commit_node "
      "c ON c.project_id = r.project_id AND c.sha = r.commit_sha ORDER BY r.seq",
      lane, query.key.comparable_key, std::max<std::int64_t>(query.limit, 0));
  while (row.next()) {
    SeriesRun& run = rows.runs.emplace_back();
    row.read(rows.seqs.emplace_back(), run.run, run.commit, run.counts, run.received_at, run.committed_at);
  }
  return rows;
}

/// `places`: the row numbers of the series' runs, in their order, and its lane.
void read_values(PostgresConnection& connection, ValuePlaces places, Series& series, KnownValues& known) {
  std::vector<std::string> runs, metrics;
  for (const SeriesRun& run : series.runs) {
    places.first = runs.empty() ? run.received_at : std::min(places.first, run.received_at);
    places.last = std::max(places.last, run.received_at);
    runs.push_back(run.run);
  }
  for (auto& [metric, values] : series.values) {
    metrics.push_back(metric);
    values.resize(series.runs.size());
  }
  if (metrics.empty() || runs.empty()) return;
  ValueTable table(std::move(runs), std::move(metrics));
  read_values(connection, places, table, known);
  for (std::size_t metric = 0; metric < table.metrics.size(); ++metric) {
    auto& column = series.values.at(table.metrics[metric]);
    for (std::size_t run = 0; run < column.size(); ++run) column[run] = table.row(run)[metric];
  }
}

void read_told(PostgresConnection& connection, std::int64_t id, const std::vector<std::string>& metrics,
               Series& series) {
  Rows row = connection.query(
      "SELECT m.name, r.id FROM told_drift t JOIN metric m ON m.id = t.metric_id JOIN run r ON r.seq = t.run_seq "
      "WHERE t.series_id = $1 AND m.name = ANY ($2::text[]) ORDER BY t.run_seq",
      id, metrics);
  std::string metric, run;
  while (row.next()) {
    row.read(metric, run);
    series.told[metric].push_back(run);
  }
}

/// One statement for all changes of all metrics.
void replace_changes(PostgresConnection& connection, std::int64_t series, const SeriesLevels& levels) {
  std::vector<std::string> replaced, metrics, runs, previous, acceptances;
  std::vector<double> before, after, magnitudes, ps;
  std::vector<std::optional<std::string>> better;
  for (const auto& [metric, changes] : levels.changes) {
    replaced.push_back(metric);
    for (const StoredChange& change : changes) {
      metrics.push_back(metric);
      runs.push_back(change.run);
      previous.push_back(change.previous_run);
      before.push_back(change.before);
      after.push_back(change.after);
      magnitudes.push_back(change.magnitude);
      ps.push_back(change.p);
      better.push_back(change.better ? std::optional<std::string>(*change.better ? "t" : "f") : std::nullopt);
      acceptances.push_back(change.acceptance);
    }
  }
  connection.execute(
      "DELETE FROM change_point WHERE series_id = $1 AND metric_id IN (SELECT id FROM metric WHERE name = ANY "
      "($2::text[]))",
      series, replaced);
  if (metrics.empty()) return;
  connection.execute(
      "INSERT INTO change_point (series_id, metric_id, run_seq, previous_seq, before_value, after_value, magnitude, p, "
      "better, acceptance_seq) SELECT $1::bigint, m.id, r.seq, b.seq, n.before_value, n.after_value, n.magnitude, n.p, "
      "n.better, a.seq FROM unnest($2::text[], $3::text[], $4::text[], $5::double precision[], "
      "$6::double precision[], $7::double precision[], $8::double precision[], $9::boolean[], $10::text[]) "
      "AS n (metric, run, previous, before_value, after_value, magnitude, p, better, acceptance) "
      "JOIN metric m ON m.name = n.metric JOIN run r ON r.id = n.run JOIN run b ON b.id = n.previous "
      "LEFT JOIN acceptance a ON a.id = n.acceptance",
      series, metrics, runs, previous, before, after, magnitudes, ps, better, acceptances);
}

void replace_segments(PostgresConnection& connection, std::int64_t series, const SeriesLevels& levels) {
  std::vector<std::string> replaced, metrics, firsts, lasts, begans;
  std::vector<std::int64_t> runs;
  std::vector<double> level, noise;
  for (const auto& [metric, segments] : levels.segments) {
    replaced.push_back(metric);
    for (const StoredSegment& segment : segments) {
      metrics.push_back(metric);
      firsts.push_back(segment.first_run);
      lasts.push_back(segment.last_run);
      runs.push_back(segment.runs);
      level.push_back(segment.level);
      noise.push_back(segment.noise);
      begans.emplace_back(word(segment.began));
    }
  }
  connection.execute(
      "DELETE FROM segment WHERE series_id = $1 AND metric_id IN (SELECT id FROM metric WHERE name = ANY ($2::text[]))",
      series, replaced);
  if (metrics.empty()) return;
  connection.execute(
      "INSERT INTO segment (series_id, metric_id, first_seq, last_seq, runs, level, noise, began) "
      "SELECT $1::bigint, m.id, r.seq, b.seq, n.runs, n.level, n.noise, n.began FROM unnest($2::text[], $3::text[], "
      "$4::text[], $5::bigint[], $6::double precision[], $7::double precision[], $8::text[]) "
      "AS n (metric, first, last, runs, level, noise, began) JOIN metric m ON m.name = n.metric "
      "JOIN run r ON r.id = n.first JOIN run b ON b.id = n.last",
      series, metrics, firsts, lasts, runs, level, noise, begans);
}

void tell(PostgresConnection& connection, std::int64_t series, const SeriesLevels& levels) {
  for (const auto& [metric, runs] : levels.told)
    connection.execute(
        "INSERT INTO told_drift (series_id, metric_id, run_seq) SELECT $1::bigint, m.id, r.seq FROM metric m, run r "
        "WHERE m.name = $2 AND r.id = ANY ($3::text[]) ON CONFLICT DO NOTHING",
        series, metric, runs);
}

/// The condition that both lists share.
std::string where(const HistoryQuery& query) {
  std::string sql = " WHERE p.name = $1 AND l.workload = $2 AND m.name = $3";
  sql += query.branch.empty() ? " AND $4 = ''" : " AND l.branch = $4";
  sql += query.environment.empty() ? " AND $5 = ''" : " AND s.comparable_key = $5";
  return sql;
}

std::vector<StoredChange> changes_of(PostgresConnection& connection, const HistoryQuery& query) {
  std::vector<StoredChange> changes;
  Rows row = connection.query(
      "SELECT r.id, r.commit_sha, b.id, b.commit_sha, c.before_value, c.after_value, c.magnitude, c.p, c.better, "
      "coalesce(a.id, ''), a.id IS NOT NULL AND a.undone_us IS NULL AND (a.until_us IS NULL OR a.until_us > $6), "
      "s.comparable_key FROM project p JOIN lane l ON l.project_id = p.id JOIN series s ON s.lane_id = l.id "
      "CROSS JOIN metric m JOIN change_point c ON c.series_id = s.id AND c.metric_id = m.id "
      "JOIN run r ON r.seq = c.run_seq JOIN run b ON b.seq = c.previous_seq "
      "LEFT JOIN acceptance a ON a.seq = c.acceptance_seq" +
          where(query) + " ORDER BY s.id, c.run_seq",
      query.project, query.workload, query.metric, query.branch, query.environment, query.now);
  while (row.next()) {
    StoredChange& change = changes.emplace_back();
    row.read(change.run, change.commit, change.previous_run, change.previous_commit, change.before, change.after,
             change.magnitude, change.p, change.better, change.acceptance, change.accepted, change.comparable_key);
  }
  return changes;
}

std::vector<StoredSegment> segments_of(PostgresConnection& connection, const HistoryQuery& query) {
  std::vector<StoredSegment> segments;
  Rows row = connection.query(
      "SELECT r.id, r.commit_sha, b.id, b.commit_sha, c.runs, c.level, c.noise, c.began, s.comparable_key "
      "FROM project p JOIN lane l ON l.project_id = p.id JOIN series s ON s.lane_id = l.id CROSS JOIN metric m "
      "JOIN segment c ON c.series_id = s.id AND c.metric_id = m.id JOIN run r ON r.seq = c.first_seq "
      "JOIN run b ON b.seq = c.last_seq" +
          where(query) + " ORDER BY s.id, c.first_seq",
      query.project, query.workload, query.metric, query.branch, query.environment);
  std::string began;
  while (row.next()) {
    StoredSegment& segment = segments.emplace_back();
    row.read(segment.first_run, segment.first_commit, segment.last_run, segment.last_commit, segment.runs,
             segment.level, segment.noise, began, segment.comparable_key);
    segment.began = stored_word(began_of(began));
  }
  return segments;
}

}  // namespace

Result<Series> PostgresStore::series(const SeriesQuery& query) {
  return database_->read([&](PostgresConnection& connection) -> Result<Series> {
    Series series;
    const auto found = series_row(connection, query.key, "");
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
    std::vector<std::int64_t> seqs;
    for (const std::size_t i : order_of(connection, *project, commits)) {
      seqs.push_back(rows.seqs[i]);
      series.runs.push_back(std::move(rows.runs[i]));
    }
    for (const std::string& metric : query.metrics) series.values[metric], series.told[metric];
    read_values(connection, {std::move(seqs), {}, {}, found->lane}, series, known_values_);
    read_told(connection, found->id, query.metrics, series);
    return series;
  });
}

Result<void> PostgresStore::put_levels(const SeriesLevels& levels) {
  return database_->write([&](PostgresConnection& connection) -> Result<void> {
    const auto series = series_row(connection, levels.key, " FOR UPDATE OF s");
    if (!series || series->version != levels.version)
      return fail(ErrorCode::conflict, "the series has changed since it was read");
    replace_changes(connection, series->id, levels);
    replace_segments(connection, series->id, levels);
    tell(connection, series->id, levels);
    if (!levels.run.empty())
      connection.execute("UPDATE run_document SET verdict = $2 WHERE run_seq = (SELECT seq FROM run WHERE id = $1)",
                         levels.run, levels.verdict_json);
    return {};
  });
}

Result<Levels> PostgresStore::levels(const HistoryQuery& query) {
  return database_->read([&](PostgresConnection& connection) -> Result<Levels> {
    return Levels{changes_of(connection, query), segments_of(connection, query)};
  });
}

}  // namespace traceweir::store
