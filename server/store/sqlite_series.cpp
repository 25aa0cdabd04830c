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
    row.read(candidate.seq, candidate.run, candidate.commit);
  }
}

/// Reads the lane's partial index of baseline runs from its end.
std::vector<Candidate> of_any_commit(Connection& connection, std::int64_t lane, const BaselineQuery& query) {
  std::vector<Candidate> candidates;
  Query row = connection.query(
      "SELECT seq, id, commit_sha FROM run WHERE in_baseline = 1 AND lane_id = ?1 AND comparable_key = ?2 "
      "AND seq < ?3 AND commit_sha <> ?4 ORDER BY seq DESC LIMIT ?5",
      lane, query.comparable_key, seq_limit(connection, query), query.not_commit,
      std::max<std::int64_t>(query.limit, 0));
  read_candidates(row, candidates);
  return candidates;
}

/// Looks at the few runs of each commit, so that the cost follows the list of commits and not the number of runs.
std::vector<Candidate> of_these_commits(Connection& connection, std::int64_t lane, const BaselineQuery& query) {
  const std::int64_t below = seq_limit(connection, query);
  std::set<std::string_view> asked{query.not_commit};
  std::vector<Candidate> candidates;
  for (const std::string& commit : query.commits) {
    const std::int64_t wanted = query.limit - std::ssize(candidates);
    if (wanted <= 0) break;
    if (!asked.insert(commit).second) continue;
    Query row = connection.query(
        "SELECT r.seq, r.id, r.commit_sha FROM lane l JOIN run r ON r.project_id = l.project_id "
        "WHERE l.id = ?1 AND r.commit_sha = ?2 AND r.seq < ?3 AND r.lane_id = l.id AND r.comparable_key = ?4 "
        "AND r.in_baseline = 1 ORDER BY r.seq DESC LIMIT ?5",
        lane, commit, below, query.comparable_key, wanted);
    read_candidates(row, candidates);
  }
  return candidates;
}

std::map<std::string, double> values_of(Connection& connection, std::int64_t run) {
  std::map<std::string, double> values;
  Query row = connection.query(
      "SELECT m.name, v.value FROM measurement v JOIN metric m ON m.id = v.metric_id WHERE v.run_seq = "
      "?1",
      run);
  while (row.next()) {
    std::string name;
    double value = 0;
    row.read(name, value);
    values.emplace(std::move(name), value);
  }
  return values;
}

/// The newest points are chosen first, on the series alone; then only these are joined with their runs.
std::string sql_of(const HistoryQuery& query) {
  const std::string_view lane = query.branch.empty() ? "?5 = ''" : "l.branch = ?5";
  return "SELECT r.id, r.commit_sha, l.branch, r.comparable_key, c.committed_us, r.received_us, v.value, r.outcome "
         "FROM (SELECT v.run_seq, v.value FROM project p JOIN lane l ON l.project_id = p.id JOIN metric m ON m.name = "
         "?3 "
         "JOIN measurement v ON v.lane_id = l.id AND v.metric_id = m.id "
         "WHERE p.name = ?1 AND l.workload = ?2 AND " +
         std::string(lane) +
         " ORDER BY v.run_seq DESC LIMIT ?4) v "
         "JOIN run r ON r.seq = v.run_seq JOIN lane l ON l.id = r.lane_id "
         "LEFT JOIN commit_node c ON c.project_id = r.project_id AND c.sha = r.commit_sha ORDER BY v.run_seq DESC";
}

HistoryPoint point_of(Query& row) {
  HistoryPoint point;
  std::optional<std::string> outcome;
  row.read(point.run, point.commit, point.branch, point.comparable_key, point.committed_at, point.uploaded_at,
           point.value, outcome);
  if (outcome) point.outcome = known(gate::outcome_of(*outcome));
  return point;
}

/// `points` come in order of receipt.
std::vector<HistoryPoint> in_commit_order(Connection& connection, std::string_view project,
                                          std::vector<HistoryPoint> points) {
  const auto number = project_number(connection, project);
  if (!number) return points;
  std::vector<std::string> commits;
  for (const HistoryPoint& point : points) commits.push_back(point.commit);
  std::vector<HistoryPoint> ordered;
  ordered.reserve(points.size());
  for (const std::size_t i :
       commit_order(commits, [&](const std::string& sha) { return first_parent(connection, *number, sha); }))
    ordered.push_back(std::move(points[i]));
  return ordered;
}

}  // namespace

Result<std::vector<BaselineRow>> SqliteStore::baseline(const BaselineQuery& query) {
  return database_->read([&](Connection& connection) -> Result<std::vector<BaselineRow>> {
    std::vector<BaselineRow> rows;
    const auto lane = lane_of(connection, query);
    if (!lane) return rows;
    const auto candidates =
        query.commits.empty() ? of_any_commit(connection, *lane, query) : of_these_commits(connection, *lane, query);
    for (const Candidate& candidate : candidates)
      rows.push_back({candidate.run, candidate.commit, values_of(connection, candidate.seq)});
    return rows;
  });
}

Result<std::int64_t> SqliteStore::other_class_runs(const BaselineQuery& query) {
  return database_->read([&](Connection& connection) -> Result<std::int64_t> {
    const auto lane = lane_of(connection, query);
    if (!lane) return 0;
    std::int64_t runs = 0;
    // +seq: keeps SQLite on the partial index of baseline runs, which holds all that is asked for.
    Query row = connection.query(
        "SELECT count(*) FROM run WHERE in_baseline = 1 AND lane_id = ?1 AND comparable_key <> ?2 AND +seq < ?3 "
        "AND commit_sha <> ?4",
        *lane, query.comparable_key, seq_limit(connection, query), query.not_commit);
    row.next();
    row.read(runs);
    return runs;
  });
}

Result<std::vector<HistoryPoint>> SqliteStore::history(const HistoryQuery& query) {
  return database_->read([&](Connection& connection) -> Result<std::vector<HistoryPoint>> {
    std::vector<HistoryPoint> points;
    Query row = connection.query(sql_of(query), query.project, query.workload, query.metric,
                                 std::max<std::int64_t>(query.limit, 0), query.branch);
    while (row.next()) points.push_back(point_of(row));
    std::reverse(points.begin(), points.end());
    return in_commit_order(connection, query.project, std::move(points));
  });
}

}  // namespace traceweir::store
