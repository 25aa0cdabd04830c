#include <algorithm>
#include <set>
#include <unordered_map>

#include "server/store/commit_order.hpp"
#include "server/store/postgres_store.hpp"

namespace traceweir::store {
namespace {

/// How many commits of a line are read ahead when one of them is asked for.
constexpr std::int64_t parents_ahead = 1'000;

/// From so many points on a plan of joins by hash is worth finding.
constexpr std::int64_t long_history = 1'000;

/// The lane of the query: $1 to $3 of the statement are the query's project, workload and branch.
constexpr std::string_view lane_of_query =
    "(SELECT l.id FROM lane l JOIN project p ON p.id = l.project_id WHERE p.name = $1 AND l.workload = $2 AND "
    "l.branch = $3)";

/// What a run `r` has to be: $4 to $6 of the statement are the query's key, the commit that does not count, and the run
/// below whose row number it stands. An unknown run has nothing before it.
std::string place_of(const BaselineQuery& query) {
  return std::string(" r.in_baseline AND r.commit_sha <> $5 AND ") +
         (query.before_run.empty() ? "$6 = ''" : "r.seq < (SELECT b.seq FROM run b WHERE b.id = $6)");
}

/// What else it has to be: $8 and $9 of the statement are the query's now and since.
std::string counting(const BaselineQuery& query) {
  std::string sql =
      query.leaning == Leaning::never
          ? " AND $8::bigint IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run_acceptance x WHERE x.run_seq = r.seq)"
          : " AND NOT EXISTS (SELECT 1 FROM run_acceptance x JOIN acceptance a ON a.seq = "
            "x.acceptance_seq WHERE x.run_seq = r.seq AND (a.undone_us IS NOT NULL OR a.until_us <= "
            "$8))";
  sql += query.since ? " AND coalesce((SELECT c.committed_us FROM commit_node c WHERE c.project_id = r.project_id AND "
                       "c.sha = r.commit_sha), r.received_us) >= $9"
                     : " AND $9::bigint IS NULL";
  return sql;
}

/// Reads the lane's partial index of baseline runs from its end.
Rows of_any_commit(PostgresConnection& connection, const BaselineQuery& query) {
  return connection.query("SELECT r.seq, r.id, r.commit_sha, r.received_us FROM run r WHERE" + place_of(query) +
                              " AND r.lane_id = " + std::string(lane_of_query) + " AND r.comparable_key = $4" +
                              counting(query) + " ORDER BY r.seq DESC LIMIT $7",
                          query.project, query.workload, query.branch, query.comparable_key, query.not_commit,
                          query.before_run, std::max<std::int64_t>(query.limit, 0), query.now, query.since);
}

/// Looks at the few runs of each commit, so that the cost follows the list of commits and not the number of runs.
Rows of_these_commits(PostgresConnection& connection, const BaselineQuery& query) {
  std::set<std::string_view> asked{query.not_commit};
  std::vector<std::string> commits;  // each once, nearest first
  for (const std::string& commit : query.commits)
    if (asked.insert(commit).second) commits.push_back(commit);
  return connection.query(
      "SELECT o.seq, o.id, o.commit_sha, o.received_us FROM unnest($10::text[]) WITH ORDINALITY AS n (sha, number) "
      "CROSS JOIN LATERAL (SELECT r.seq, r.id, r.commit_sha, r.received_us FROM project q JOIN lane l "
      "ON l.project_id = q.id JOIN run r ON r.project_id = l.project_id WHERE q.name = $1 AND l.workload = $2 AND "
      "l.branch = $3 AND r.commit_sha = n.sha AND r.lane_id = l.id AND r.comparable_key = $4 AND" +
          place_of(query) + counting(query) + " ORDER BY r.seq DESC LIMIT $7) o ORDER BY n.number, o.seq DESC LIMIT $7",
      query.project, query.workload, query.branch, query.comparable_key, query.not_commit, query.before_run,
      std::max<std::int64_t>(query.limit, 0), query.now, query.since, commits);
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
    row.read(seq, candidate.run, candidate.commit, candidate.received_at);
    candidates.seqs.push_back(seq);
    candidates.places.emplace(seq, candidates.rows.size() - 1);
  }
  return candidates;
}

ValuePlaces places_of(const Candidates& candidates) {
  const auto earlier = [](const BaselineRow& a, const BaselineRow& b) { return a.received_at < b.received_at; };
  const auto [first, last] = std::minmax_element(candidates.rows.begin(), candidates.rows.end(), earlier);
  return {candidates.seqs, first->received_at, last->received_at};
}

void read_values_of_all_metrics(PostgresConnection& connection, Candidates& candidates) {
  const ValuePlaces places = places_of(candidates);
  Rows row = connection.query(
      "SELECT v.run_seq, m.name, v.value FROM measurement v JOIN metric m ON m.id = v.metric_id "
      "WHERE v.run_seq = ANY ($1::bigint[]) AND v.received_us BETWEEN $2 AND $3",
      places.seqs, places.first, places.last);
  std::int64_t seq = 0;
  std::string name;
  double value = 0;
  while (row.next()) {
    row.read(seq, name, value);
    candidates.rows[candidates.places.at(seq)].values.emplace(name, value);
  }
}

void read_values_of(PostgresConnection& connection, const std::vector<std::string>& metrics, Candidates& candidates,
                    KnownValues& known) {
  std::vector<std::string> runs;
  for (const BaselineRow& row : candidates.rows) runs.push_back(row.run);
  const std::set<std::string> once(metrics.begin(), metrics.end());
  ValueTable table(std::move(runs), {once.begin(), once.end()});
  read_values(connection, places_of(candidates), table, known);
  for (std::size_t run = 0; run < candidates.rows.size(); ++run)
    for (std::size_t metric = 0; metric < table.metrics.size(); ++metric)
      if (const auto value = table.row(run)[metric]) candidates.rows[run].values.emplace(table.metrics[metric], *value);
}

/// The newest points are chosen first, on the series alone and of each lane by itself; only these are joined with their
/// runs.
std::string sql_of(const HistoryQuery& query) {
  const std::string lane = query.branch.empty() ? "$5 = ''" : "l.branch = $5";
  const std::string environment =
      query.environment.empty() ? "$6 = ''" : "(SELECT e.comparable_key FROM run e WHERE e.seq = n.run_seq) = $6";
  return "SELECT v.run_seq, r.id, r.commit_sha, v.branch, r.comparable_key, c.committed_us, r.received_us, v.value, "
         "r.outcome, coalesce(c.subject, ''), coalesce(c.author, ''), r.superseded, r.in_baseline, v.level, v.low, "
         "v.high, q.parent FROM (SELECT s.run_seq, s.value, s.level, s.low, s.high, l.branch, l.project_id FROM "
         "project p "
         "JOIN lane l ON l.project_id = p.id JOIN metric m ON m.name = $3 "
         "CROSS JOIN LATERAL (SELECT n.run_seq, n.value, n.level, n.low, n.high FROM measurement n "
         "WHERE n.lane_id = l.id AND n.metric_id = m.id AND " +
         environment + " ORDER BY n.run_seq DESC LIMIT $4) s WHERE p.name = $1 AND l.workload = $2 AND " + lane +
         " ORDER BY s.run_seq DESC LIMIT $4) v JOIN run r ON r.seq = v.run_seq "
         "LEFT JOIN commit_node c ON c.project_id = v.project_id AND c.sha = r.commit_sha "
         "LEFT JOIN commit_parent q ON q.project_id = v.project_id AND q.sha = r.commit_sha AND q.position = 0 "
         "ORDER BY v.run_seq DESC";
}

/// What else is known of a point.
struct Behind {
  std::int64_t seq = 0;
  std::optional<std::string> parent;  ///< of its commit
};

HistoryPoint point_of(Rows& row, Behind& behind) {
  HistoryPoint point;
  std::optional<std::string> outcome;
  std::optional<double> level, low, high;
  row.read(behind.seq, point.run, point.commit, point.branch, point.comparable_key, point.committed_at,
           point.uploaded_at, point.value, outcome, point.subject, point.author, point.superseded, point.in_baseline,
           level, low, high, behind.parent);
  if (level && low && high) point.band = gate::NoiseBand{*level, *low, *high};
  if (outcome) point.outcome = stored_word(gate::outcome_of(*outcome));
  return point;
}

/// First parents, read in few statements: those of all commits of a history at once, and whole lines of those between.
class FirstParents {
 public:
  FirstParents(PostgresConnection& connection, std::int64_t project, const std::vector<std::string_view>& commits)
      : connection_(connection), project_(project) {
    for (const std::string_view commit : commits) known_.try_emplace(std::string(commit), std::nullopt);
    Rows row = connection_.query(
        "SELECT sha, parent FROM commit_parent WHERE project_id = $1 AND sha = ANY ($2::text[]) AND position = 0",
        project_, commits);
    while (row.next()) {
      std::string sha, parent;
      row.read(sha, parent);
      known_[sha] = std::move(parent);
    }
  }

  FirstParents(PostgresConnection& connection, std::int64_t project,
               std::unordered_map<std::string, std::optional<std::string>> known)
      : connection_(connection), project_(project), known_(std::move(known)) {}

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

/// Row numbers of the runs whose value of the metric is accepted now.
std::set<std::int64_t> accepted_runs(PostgresConnection& connection, std::int64_t project, const HistoryQuery& query) {
  std::set<std::int64_t> runs;
  Rows row = connection.query(
      "SELECT a.run_seq FROM acceptance a JOIN acceptance_metric v ON v.acceptance_seq = a.seq JOIN metric m "
      "ON m.id = v.metric_id WHERE a.project_id = $1 AND m.name = $2 AND a.undone_us IS NULL "
      "AND (a.until_us IS NULL OR a.until_us > $3)",
      project, query.metric, query.now);
  std::int64_t seq = 0;
  while (row.next()) {
    row.read(seq);
    runs.insert(seq);
  }
  return runs;
}

/// Whether each commit is the child of the one before it, or the same: then the order of receipt is that of the graph,
/// and nothing else has to be known of it. Most histories are like that.
bool is_a_line(const std::vector<HistoryPoint>& points, const std::vector<Behind>& behind) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const std::string& before = points[i - 1].commit;
    if (points[i].commit != before && behind[i].parent != before) return false;
  }
  if (behind.empty() || !behind.front().parent) return true;
  const std::string& first = *behind.front().parent;  // in a circle it comes again
  return std::none_of(points.begin(), points.end(), [&](const HistoryPoint& point) { return point.commit == first; });
}

/// The points by the commit graph.
std::vector<HistoryPoint> in_commit_order(PostgresConnection& connection, std::int64_t project,
                                          std::vector<HistoryPoint> points, std::vector<Behind> behind) {
  std::vector<std::string_view> commits;
  commits.reserve(points.size());
  std::unordered_map<std::string, std::optional<std::string>> known;
  known.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    commits.push_back(points[i].commit);
    known.try_emplace(points[i].commit, std::move(behind[i].parent));
  }
  FirstParents parents(connection, project, std::move(known));
  std::vector<HistoryPoint> ordered;
  ordered.reserve(points.size());
  for (const std::size_t i : commit_order(commits, [&](const std::string& sha) { return parents.of(sha); }))
    ordered.push_back(std::move(points[i]));
  return ordered;
}

/// What acceptances make of the points, and their order. Shape: both lists in order of receipt.
std::vector<HistoryPoint> finished(PostgresConnection& connection, const HistoryQuery& query,
                                   std::vector<HistoryPoint> points, std::vector<Behind> behind) {
  const auto project = project_number(connection, query.project);
  if (!project) return points;
  const std::set<std::int64_t> gone = leaning_on_ended(connection, *project, query.now);
  const std::set<std::int64_t> accepted = accepted_runs(connection, *project, query);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].in_baseline = points[i].in_baseline && !gone.contains(behind[i].seq);
    points[i].accepted = accepted.contains(behind[i].seq);
  }
  if (is_a_line(points, behind)) return points;
  return in_commit_order(connection, *project, std::move(points), std::move(behind));
}

}  // namespace

std::vector<std::size_t> order_of(PostgresConnection& connection, std::int64_t project,
                                  const std::vector<std::string_view>& commits) {
  FirstParents parents(connection, project, commits);
  return commit_order(commits, [&](const std::string& sha) { return parents.of(sha); });
}

std::set<std::int64_t> leaning_on_ended(PostgresConnection& connection, std::int64_t project, Timestamp now) {
  std::set<std::int64_t> runs;
  Rows row = connection.query(
      "SELECT x.run_seq FROM acceptance a JOIN run_acceptance x ON x.acceptance_seq = a.seq WHERE a.project_id = $1 "
      "AND (a.undone_us IS NOT NULL OR a.until_us <= $2)",
      project, now);
  std::int64_t seq = 0;
  while (row.next()) {
    row.read(seq);
    runs.insert(seq);
  }
  return runs;
}

Result<std::vector<BaselineRow>> PostgresStore::baseline(const BaselineQuery& query) {
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<BaselineRow>> {
    Candidates candidates =
        candidates_of(query.commits.empty() ? of_any_commit(connection, query) : of_these_commits(connection, query));
    if (candidates.seqs.empty()) return std::move(candidates.rows);
    if (query.metrics.empty())
      read_values_of_all_metrics(connection, candidates);
    else
      read_values_of(connection, query.metrics, candidates, known_values_);
    return std::move(candidates.rows);
  });
}

Result<std::int64_t> PostgresStore::other_class_runs(const BaselineQuery& query) {
  return database_->ask([&](PostgresConnection& connection) -> Result<std::int64_t> {
    std::int64_t runs = 0;
    const std::string of_lane = "(SELECT count(*) FROM run r WHERE" + place_of(query) +
                                " AND r.lane_id = " + std::string(lane_of_query) + " AND r.comparable_key ";
    // Two ranges of the index: the runs of the query's own key, most of all, are not walked through.
    Rows row = connection.query("SELECT " + of_lane + "< $4) + " + of_lane + "> $4)", query.project, query.workload,
                                query.branch, query.comparable_key, query.not_commit, query.before_run);
    row.next();
    row.read(runs);
    return runs;
  });
}

Result<std::vector<HistoryPoint>> PostgresStore::history(const HistoryQuery& query) {
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<HistoryPoint>> {
    std::vector<HistoryPoint> points;
    std::vector<Behind> behind;
    const auto ask = [&](const auto&... values) {
      return query.limit > long_history ? connection.query_planned_anew(sql_of(query), values...)
                                        : connection.query(sql_of(query), values...);
    };
    Rows row = ask(query.project, query.workload, query.metric, std::max<std::int64_t>(query.limit, 0), query.branch,
                   query.environment);
    points.reserve(static_cast<std::size_t>(row.count()));
    behind.reserve(points.capacity());
    while (row.next()) points.push_back(point_of(row, behind.emplace_back()));
    std::reverse(points.begin(), points.end());
    std::reverse(behind.begin(), behind.end());
    return finished(connection, query, std::move(points), std::move(behind));
  });
}

}  // namespace traceweir::store
