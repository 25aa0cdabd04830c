#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "server/store/commit_order.hpp"
#include "server/store/postgres_store.hpp"

namespace traceweir::store {
namespace {

/// How many commits of a line are read ahead when one of them is asked for.
constexpr std::int64_t parents_ahead = 1'000;

std::optional<std::int64_t> lane_of(PostgresConnection& connection, const BaselineQuery& query) {
  std::optional<std::int64_t> lane;
  Rows row = connection.query(
      "SELECT l.id FROM lane l JOIN project p ON p.id = l.project_id "
      "WHERE p.name = $1 AND l.workload = $2 AND l.branch = $3",
      query.project, query.workload, query.branch);
  if (row.next()) row.read(lane);
  return lane;
}

/// Only runs below this row number count. An unknown run has nothing before it.
std::int64_t seq_limit(PostgresConnection& connection, const BaselineQuery& query) {
  if (query.before_run.empty()) return std::numeric_limits<std::int64_t>::max();
  std::int64_t seq = 0;
  Rows row = connection.query("SELECT seq FROM run WHERE id = $1", query.before_run);
  if (row.next()) row.read(seq);
  return seq;
}

/// Reads the lane's partial index of baseline runs from its end.
Rows of_any_commit(PostgresConnection& connection, std::int64_t lane, const BaselineQuery& query) {
  return connection.query(
      "SELECT seq, id, commit_sha FROM run WHERE in_baseline AND lane_id = $1 AND comparable_key = $2 "
      "AND seq < $3 AND commit_sha <> $4 ORDER BY seq DESC LIMIT $5",
      lane, query.comparable_key, seq_limit(connection, query), query.not_commit,
      std::max<std::int64_t>(query.limit, 0));
}

/// Looks at the few runs of each commit, so that the cost follows the list of commits and not the number of runs.
Rows of_these_commits(PostgresConnection& connection, std::int64_t lane, const BaselineQuery& query) {
  std::set<std::string_view> asked{query.not_commit};
  std::vector<std::string> commits;  // each once, nearest first
  for (const std::string& commit : query.commits)
    if (asked.insert(commit).second) commits.push_back(commit);
  return connection.query(
      "SELECT r.seq, r.id, r.commit_sha FROM unnest($6::text[]) WITH ORDINALITY AS c (sha, number) "
      "CROSS JOIN LATERAL (SELECT o.seq, o.id, o.commit_sha FROM lane l JOIN run o ON o.project_id = l.project_id "
      "WHERE l.id = $1 AND o.commit_sha = c.sha AND o.seq < $3 AND o.lane_id = l.id AND o.comparable_key = $2 "
      "AND o.in_baseline AND o.commit_sha <> $4 ORDER BY o.seq DESC LIMIT $5) r ORDER BY c.number, r.seq DESC LIMIT $5",
      lane, query.comparable_key, seq_limit(connection, query), query.not_commit,
      std::max<std::int64_t>(query.limit, 0), commits);
}

/// Rows and where each stands, by row number.
struct Candidates {
  std::vector<BaselineRow> rows;
  std::vector<std::int64_t> seqs;
  std::unordered_map<std::int64_t, std::size_t> places;
};

Candidates candidates_of(Rows row) {
  Candidates candidates;
  std::int64_t seq = 0;
  while (row.next()) {
    BaselineRow& candidate = candidates.rows.emplace_back();
    row.read(seq, candidate.run, candidate.commit);
    candidates.seqs.push_back(seq);
    candidates.places.emplace(seq, candidates.rows.size() - 1);
  }
  return candidates;
}

void read_values(PostgresConnection& connection, Candidates& candidates) {
  if (candidates.seqs.empty()) return;
  Rows row = connection.query(
      "SELECT v.run_seq, m.name, v.value FROM measurement v JOIN metric m ON m.id = v.metric_id "
      "WHERE v.run_seq = ANY ($1::bigint[])",
      candidates.seqs);
  std::int64_t seq = 0;
  std::string name;
  double value = 0;
  while (row.next()) {
    row.read(seq, name, value);
    candidates.rows[candidates.places.at(seq)].values.emplace(name, value);
  }
}

/// The newest points are chosen first, on the series alone and of each lane by itself; only these are joined with their
/// runs.
std::string sql_of(const HistoryQuery& query) {
  const std::string_view lane = query.branch.empty() ? "$5 = ''" : "l.branch = $5";
  return "SELECT r.id, r.commit_sha, v.branch, r.comparable_key, c.committed_us, r.received_us, v.value, r.outcome "
         "FROM (SELECT s.run_seq, s.value, l.branch, l.project_id FROM project p "
         "JOIN lane l ON l.project_id = p.id JOIN metric m ON m.name = $3 "
         "CROSS JOIN LATERAL (SELECT n.run_seq, n.value FROM measurement n "
         "WHERE n.lane_id = l.id AND n.metric_id = m.id ORDER BY n.run_seq DESC LIMIT $4) s "
         "WHERE p.name = $1 AND l.workload = $2 AND " +
         std::string(lane) +
         " ORDER BY s.run_seq DESC LIMIT $4) v JOIN run r ON r.seq = v.run_seq "
         "LEFT JOIN commit_node c ON c.project_id = v.project_id AND c.sha = r.commit_sha ORDER BY v.run_seq DESC";
}

HistoryPoint point_of(Rows& row) {
  HistoryPoint point;
  std::optional<std::string> outcome;
  row.read(point.run, point.commit, point.branch, point.comparable_key, point.committed_at, point.uploaded_at,
           point.value, outcome);
  if (outcome) point.outcome = stored_word(gate::outcome_of(*outcome));
  return point;
}

/// First parents, read in few statements: those of all commits of a history at once, and whole lines of those between.
class FirstParents {
 public:
  FirstParents(PostgresConnection& connection, std::int64_t project, const std::vector<std::string>& commits)
      : connection_(connection), project_(project) {
    for (const std::string& commit : commits) known_.try_emplace(commit, std::nullopt);
    Rows row = connection_.query(
        "SELECT sha, parent FROM commit_parent WHERE project_id = $1 AND sha = ANY ($2::text[]) AND position = 0",
        project_, commits);
    while (row.next()) {
      std::string sha, parent;
      row.read(sha, parent);
      known_[sha] = std::move(parent);
    }
  }

  std::optional<std::string> of(const std::string& sha) {
    if (const auto found = known_.find(sha); found != known_.end()) return found->second;
    const auto line = line_of(connection_, project_, sha, parents_ahead);
    if (std::ssize(line) < parents_ahead) known_.try_emplace(line.empty() ? sha : line.back().second, std::nullopt);
    for (const auto& [child, parent] : line) known_.insert_or_assign(child, parent);
    return known_.at(sha);
  }

 private:
  PostgresConnection& connection_;
  std::int64_t project_;
  std::unordered_map<std::string, std::optional<std::string>> known_;  // nothing: it has none that is known
};

/// `points` come in order of receipt.
std::vector<HistoryPoint> in_commit_order(PostgresConnection& connection, std::string_view project,
                                          std::vector<HistoryPoint> points) {
  const auto number = project_number(connection, project);
  if (!number) return points;
  std::vector<std::string> commits;
  for (const HistoryPoint& point : points) commits.push_back(point.commit);
  FirstParents parents(connection, *number, commits);
  std::vector<HistoryPoint> ordered;
  ordered.reserve(points.size());
  for (const std::size_t i : commit_order(commits, [&](const std::string& sha) { return parents.of(sha); }))
    ordered.push_back(std::move(points[i]));
  return ordered;
}

}  // namespace

Result<std::vector<BaselineRow>> PostgresStore::baseline(const BaselineQuery& query) {
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<BaselineRow>> {
    const auto lane = lane_of(connection, query);
    if (!lane) return std::vector<BaselineRow>{};
    Candidates candidates = candidates_of(query.commits.empty() ? of_any_commit(connection, *lane, query)
                                                                : of_these_commits(connection, *lane, query));
    read_values(connection, candidates);
    return std::move(candidates.rows);
  });
}

Result<std::int64_t> PostgresStore::other_class_runs(const BaselineQuery& query) {
  return database_->read([&](PostgresConnection& connection) -> Result<std::int64_t> {
    const auto lane = lane_of(connection, query);
    if (!lane) return 0;
    std::int64_t runs = 0;
    Rows row = connection.query(
        "SELECT count(*) FROM run WHERE in_baseline AND lane_id = $1 AND comparable_key <> $2 AND seq < $3 "
        "AND commit_sha <> $4",
        *lane, query.comparable_key, seq_limit(connection, query), query.not_commit);
    row.next();
    row.read(runs);
    return runs;
  });
}

Result<std::vector<HistoryPoint>> PostgresStore::history(const HistoryQuery& query) {
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<HistoryPoint>> {
    std::vector<HistoryPoint> points;
    Rows row = connection.query(sql_of(query), query.project, query.workload, query.metric,
                                std::max<std::int64_t>(query.limit, 0), query.branch);
    points.reserve(static_cast<std::size_t>(row.count()));
    while (row.next()) points.push_back(point_of(row));
    std::reverse(points.begin(), points.end());
    return in_commit_order(connection, query.project, std::move(points));
  });
}

}  // namespace traceweir::store
