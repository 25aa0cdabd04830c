#include <algorithm>
#include <limits>
#include <set>

#include "server/store/commit_order.hpp"
#include "server/store/sqlite_store.hpp"

namespace traceweir::store {
namespace {

struct Candidate {
  std::int64_t seq;
  std::string run, commit;
  Timestamp received_at;
};

std::optional<std::int64_t> lane_of(Connection& connection, const BaselineQuery& query) {
  std::optional<std::int64_t> lane;
  Query row = connection.query(
      "SELECT l.id FROM lane l JOIN project p ON p.id = l.project_id "
      "WHERE p.name = ?1 AND l.workload = ?2 AND l.branch = ?3",
      query.project, query.workload, query.branch);
  if (row.next()) row.read(lane);
  return lane;
}

/// Only runs below this row number count. An unknown run has nothing before it.
std::int64_t seq_limit(Connection& connection, const BaselineQuery& query) {
  if (query.before_run.empty()) return std::numeric_limits<std::int64_t>::max();
  std::int64_t seq = 0;
  Query row = connection.query("SELECT seq FROM run WHERE id = ?1", query.before_run);
  if (row.next()) row.read(seq);
  return seq;
}

void read_candidates(Query& row, std::vector<Candidate>& candidates) {
  while (row.next()) {
    Candidate& candidate = candidates.emplace_back();
    row.read(candidate.seq, candidate.run, candidate.commit, candidate.received_at);
  }
}

/// What else a run `r` has to be: ?6 and ?7 of the statement are the query's now and since.
std::string counting(const BaselineQuery& query) {
  std::string sql = query.leaning == Leaning::never
                        ? " AND ?6 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run_acceptance x WHERE x.run_seq = r.seq)"
                        : " AND NOT EXISTS (SELECT 1 FROM run_acceptance x JOIN acceptance a ON a.seq = "
                          "x.acceptance_seq WHERE x.run_seq = r.seq AND (a.undone_us IS NOT NULL OR a.until_us <= "
                          "?6))";
  sql += query.since ? " AND coalesce((SELECT c.committed_us FROM commit_node c WHERE c.project_id = r.project_id AND "
                       "c.sha = r.commit_sha), r.received_us) >= ?7"
                     : " AND ?7 IS NULL";
  return sql;
}

/// Reads the lane's partial index of baseline runs from its end.
std::vector<Candidate> of_any_commit(Connection& connection, std::int64_t lane, const BaselineQuery& query) {
  std::vector<Candidate> candidates;
  Query row = connection.query(
      "SELECT r.seq, r.id, r.commit_sha, r.received_us FROM run r WHERE r.in_baseline = 1 AND r.lane_id = ?1 "
      "AND r.comparable_key = ?2 AND r.seq < ?3 AND r.commit_sha <> ?4" +
          counting(query) + " ORDER BY r.seq DESC LIMIT ?5",
      lane, query.comparable_key, seq_limit(connection, query), query.not_commit,
      std::max<std::int64_t>(query.limit, 0), query.now, query.since);
  read_candidates(row, candidates);
  return candidates;
}

/// Looks at the few runs of each commit, so that the cost follows the list of commits and not the number of runs.
std::vector<Candidate> of_these_commits(Connection& connection, std::int64_t lane, const BaselineQuery& query) {
  const std::int64_t below = seq_limit(connection, query);
  const std::string sql =
      "SELECT r.seq, r.id, r.commit_sha, r.received_us FROM lane l JOIN run r ON r.project_id = l.project_id "
      "WHERE l.id = ?1 AND r.commit_sha = ?2 AND r.seq < ?3 AND r.lane_id = l.id AND r.comparable_key = ?4 "
      "AND r.in_baseline = 1" +
      counting(query) + " ORDER BY r.seq DESC LIMIT ?5";
  std::set<std::string_view> asked{query.not_commit};
  std::vector<Candidate> candidates;
  for (const std::string& commit : query.commits) {
    const std::int64_t wanted = query.limit - std::ssize(candidates);
    if (wanted <= 0) break;
    if (!asked.insert(commit).second) continue;
    Query row = connection.query(sql, lane, commit, below, query.comparable_key, wanted, query.now, query.since);
    read_candidates(row, candidates);
  }
  return candidates;
}

/// Without `wanted`: the values of all metrics.
std::map<std::string, double> values_of(Connection& connection, std::int64_t run,
                                        const std::vector<std::string>& wanted) {
  std::map<std::string, double> values;
  Query row = connection.query(
      "SELECT m.name, v.value FROM measurement v JOIN metric m ON m.id = v.metric_id WHERE v.run_seq = "
      "?1",
      run);
  while (row.next()) {
    std::string name;
    double value = 0;
    row.read(name, value);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    values.emplace(std::move(name), value);
  }
  return values;
}

/// The newest points are chosen first, on the series alone; then only these are joined with their runs.
std::string sql_of(const HistoryQuery& query) {
  const std::string lane = query.branch.empty() ? "?5 = ''" : "l.branch = ?5";
  const std::string environment =
      query.environment.empty() ? "?6 = ''" : "(SELECT e.comparable_key FROM run e WHERE e.seq = v.run_seq) = ?6";
  return "SELECT v.run_seq, r.id, r.commit_sha, l.branch, r.comparable_key, c.committed_us, r.received_us, v.value, "
         "r.outcome, coalesce(c.subject, ''), coalesce(c.author, ''), r.superseded, r.in_baseline, v.level, v.low, "
         "v.high FROM (SELECT v.run_seq, v.value, v.level, v.low, v.high FROM project p "
         "JOIN lane l ON l.project_id = p.id JOIN metric m ON m.name = ?3 "
         "JOIN measurement v ON v.lane_id = l.id AND v.metric_id = m.id "
         "WHERE p.name = ?1 AND l.workload = ?2 AND " +
         lane + " AND " + environment +
         " ORDER BY v.run_seq DESC LIMIT ?4) v "
         "JOIN run r ON r.seq = v.run_seq JOIN lane l ON l.id = r.lane_id "
         "LEFT JOIN commit_node c ON c.project_id = r.project_id AND c.sha = r.commit_sha ORDER BY v.run_seq DESC";
}

HistoryPoint point_of(Query& row, std::int64_t& seq) {
  HistoryPoint point;
  std::optional<std::string> outcome;
  std::optional<double> level, low, high;
  row.read(seq, point.run, point.commit, point.branch, point.comparable_key, point.committed_at, point.uploaded_at,
           point.value, outcome, point.subject, point.author, point.superseded, point.in_baseline, level, low, high);
  if (level && low && high) point.band = gate::NoiseBand{*level, *low, *high};
  if (outcome) point.outcome = known(gate::outcome_of(*outcome));
  return point;
}

/// Row numbers of the runs whose value of the metric is accepted now.
std::set<std::int64_t> accepted_runs(Connection& connection, std::int64_t project, const HistoryQuery& query) {
  std::set<std::int64_t> runs;
  Query row = connection.query(
      "SELECT a.run_seq FROM acceptance a JOIN acceptance_metric v ON v.acceptance_seq = a.seq JOIN metric m "
      "ON m.id = v.metric_id WHERE a.project_id = ?1 AND m.name = ?2 AND a.undone_us IS NULL "
      "AND (a.until_us IS NULL OR a.until_us > ?3)",
      project, query.metric, query.now);
  std::int64_t seq = 0;
  while (row.next()) {
    row.read(seq);
    runs.insert(seq);
  }
  return runs;
}

/// What acceptances make of the points, and their order. Shape: both lists in order of receipt.
std::vector<HistoryPoint> finished(Connection& connection, const HistoryQuery& query, std::vector<HistoryPoint> points,
                                   const std::vector<std::int64_t>& seqs) {
  const auto project = project_number(connection, query.project);
  if (!project) return points;
  const std::set<std::int64_t> gone = leaning_on_ended(connection, *project, query.now);
  const std::set<std::int64_t> accepted = accepted_runs(connection, *project, query);
  std::vector<std::string_view> commits;
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].in_baseline = points[i].in_baseline && !gone.contains(seqs[i]);
    points[i].accepted = accepted.contains(seqs[i]);
    commits.push_back(points[i].commit);
  }
  std::vector<HistoryPoint> ordered;
  ordered.reserve(points.size());
  for (const std::size_t i : order_of(connection, *project, commits)) ordered.push_back(std::move(points[i]));
  return ordered;
}

}  // namespace

std::vector<std::size_t> order_of(Connection& connection, std::int64_t project,
                                  const std::vector<std::string_view>& commits) {
  return commit_order(commits, [&](const std::string& sha) { return first_parent(connection, project, sha); });
}

std::set<std::int64_t> leaning_on_ended(Connection& connection, std::int64_t project, Timestamp now) {
  std::set<std::int64_t> runs;
  Query row = connection.query(
      "SELECT x.run_seq FROM acceptance a JOIN run_acceptance x ON x.acceptance_seq = a.seq WHERE a.project_id = ?1 "
      "AND (a.undone_us IS NOT NULL OR a.until_us <= ?2)",
      project, now);
  std::int64_t seq = 0;
  while (row.next()) {
    row.read(seq);
    runs.insert(seq);
  }
  return runs;
}

Result<std::vector<BaselineRow>> SqliteStore::baseline(const BaselineQuery& query) {
  return database_->read([&](Connection& connection) -> Result<std::vector<BaselineRow>> {
    std::vector<BaselineRow> rows;
    const auto lane = lane_of(connection, query);
    if (!lane) return rows;
    const auto candidates =
        query.commits.empty() ? of_any_commit(connection, *lane, query) : of_these_commits(connection, *lane, query);
    for (const Candidate& candidate : candidates)
      rows.push_back({candidate.run, candidate.commit, values_of(connection, candidate.seq, query.metrics),
                      candidate.received_at});
    return rows;
  });
}

Result<std::int64_t> SqliteStore::other_class_runs(const BaselineQuery& query) {
  return database_->read([&](Connection& connection) -> Result<std::int64_t> {
    const auto lane = lane_of(connection, query);
    if (!lane) return 0;
    std::int64_t runs = 0;
    // +seq: keeps SQLite on the partial index of baseline runs, which holds all that is asked for. Two ranges of it:
    // the runs of the query's own key, most of all, are not walked through.
    const std::string of_lane =
        "(SELECT count(*) FROM run WHERE in_baseline = 1 AND lane_id = ?1 AND +seq < ?3 AND commit_sha <> ?4 AND "
        "comparable_key ";
    Query row = connection.query("SELECT " + of_lane + "< ?2) + " + of_lane + "> ?2)", *lane, query.comparable_key,
                                 seq_limit(connection, query), query.not_commit);
    row.next();
    row.read(runs);
    return runs;
  });
}

Result<std::vector<HistoryPoint>> SqliteStore::history(const HistoryQuery& query) {
  return database_->read([&](Connection& connection) -> Result<std::vector<HistoryPoint>> {
    std::vector<HistoryPoint> points;
    std::vector<std::int64_t> seqs;
    Query row = connection.query(sql_of(query), query.project, query.workload, query.metric,
                                 std::max<std::int64_t>(query.limit, 0), query.branch, query.environment);
    while (row.next()) points.push_back(point_of(row, seqs.emplace_back()));
    std::reverse(points.begin(), points.end());
    std::reverse(seqs.begin(), seqs.end());
    return finished(connection, query, std::move(points), seqs);
  });
}

}  // namespace traceweir::store
