#include <algorithm>
#include <unordered_map>

#include "server/store/postgres_store.hpp"
#include "server/store/run_group.hpp"

namespace traceweir::store {
namespace {

enum class Documents { none, verdict, all };

/// The columns of a run. Documents that are not asked for are not read.
std::string select_runs(Documents documents) {
  std::string sql =
      "SELECT r.seq, r.id, p.name, l.workload, r.commit_sha, l.branch, r.base_branch, r.head_sha, r.base_sha, "
      "r.pull_request, r.fork, r.attempt, r.ci_run, r.job, r.matrix, r.job_url, r.run_key, r.ranks_expected, "
      "r.steps_glob, r.window_kind, r.skip_steps, coalesce(y.toml, ''), r.token_id, r.received_us, "
      "r.status, r.outcome, r.comparable_key, r.in_baseline, r.error_code, r.error_message, r.finished_us, "
      "r.superseded, r.group_key, r.closed, ";
  sql += documents == Documents::none ? "'', " : "coalesce(d.verdict, ''), ";
  sql += documents == Documents::all ? "coalesce(d.report, '') " : "'' ";
  return sql +
         "FROM run r JOIN project p ON p.id = r.project_id JOIN lane l ON l.id = r.lane_id "
         "LEFT JOIN policy y ON y.sha256 = r.policy_sha256 LEFT JOIN run_document d ON d.run_seq = r.seq";
}

/// Runs and where each stands, by row number.
struct Found {
  std::vector<RunRecord> records;
  std::vector<std::int64_t> seqs;
  std::unordered_map<std::int64_t, std::size_t> places;
};

void add_record(Rows& row, Found& found) {
  std::int64_t seq = 0;
  RunRecord run;
  RunHead& head = run.head;
  std::string status;
  std::optional<std::string> outcome;
  row.read(seq, head.id, head.project, head.workload, head.commit, head.branch, head.base_branch, head.head, head.base,
           head.pull_request, head.fork, head.attempt, head.ci_run, head.job, head.matrix, head.job_url, head.run_key,
           head.ranks_expected, head.steps_glob, head.window, head.skip_steps, head.policy, head.token,
           head.received_at, status, outcome, run.comparable_key, run.in_baseline, run.error_code, run.error_message,
           run.finished_at, run.superseded, head.group, run.closed, run.verdict_json, run.report_json);
  run.status = stored_word(run_status_of(status));
  if (outcome) run.outcome = stored_word(gate::outcome_of(*outcome));
  found.places.emplace(seq, found.records.size());
  found.seqs.push_back(seq);
  found.records.push_back(std::move(run));
}

void read_environments(PostgresConnection& connection, Found& found) {
  Rows rows = connection.query("SELECT run_seq, name, value FROM run_environment WHERE run_seq = ANY ($1::bigint[])",
                               found.seqs);
  std::int64_t seq = 0;
  std::string name, value;
  while (rows.next()) {
    rows.read(seq, name, value);
    found.records[found.places.at(seq)].head.environment.emplace(name, value);
  }
}

void read_uploads(PostgresConnection& connection, Found& found) {
  Rows rows = connection.query(
      "SELECT run_seq, coalesce(idempotency_key, ''), rank, sha256, bytes, name, status, ranks, error_code, "
      "error_message, stated_ranks, removed_us, removed_why FROM upload "
      "WHERE run_seq = ANY ($1::bigint[]) ORDER BY run_seq, rank",
      found.seqs);
  std::int64_t seq = 0;
  std::string key, status, stated;
  while (rows.next()) {
    Upload upload;
    rows.read(seq, key, upload.rank, upload.sha256, upload.bytes, upload.name, status, upload.ranks, upload.error_code,
              upload.error_message, stated, upload.removed_at, upload.removed_why);
    upload.stated = ranks_of_text(stated);
    upload.status = stored_word(upload_status_of(status));
    RunRecord& record = found.records[found.places.at(seq)];
    if (record.uploads.empty()) record.head.idempotency_key = key;
    record.uploads.push_back(std::move(upload));
  }
}

/// The runs of a query that selects `select_runs`: three statements, however many runs there are.
std::vector<RunRecord> records_of(PostgresConnection& connection, Rows row) {
  Found found;
  while (row.next()) add_record(row, found);
  if (found.records.empty()) return {};
  read_environments(connection, found);
  read_uploads(connection, found);
  return std::move(found.records);
}

/// The run of the row that was just locked: read again, since another transaction may have changed it before.
std::optional<LockedRun> read_locked(PostgresConnection& connection, Rows locked) {
  static const std::string sql = select_runs(Documents::none) + " WHERE r.seq = $1";
  if (!locked.next()) return std::nullopt;
  LockedRun run;
  locked.read(run.seq);
  auto records = records_of(connection, connection.query(sql, run.seq));
  if (records.empty()) return std::nullopt;
  run.record = std::move(records.front());
  return run;
}

/// The SQL of a filter. $1 is the project and $2 the limit. A field that does not filter stands as a condition on its
/// parameter alone, so that every parameter occurs and the text never depends on what a field holds.
std::string sql_of(const RunFilter& filter) {
  std::string sql = select_runs(Documents::verdict);
  sql += filter.project.empty() ? " WHERE $1 = ''" : " WHERE p.name = $1";
  sql += filter.branch.empty() ? " AND $3 = ''" : " AND l.branch = $3";
  sql += filter.commit.empty() ? " AND $4 = ''" : " AND r.commit_sha = $4";
  sql += filter.workload.empty() ? " AND $5 = ''" : " AND l.workload = $5";
  sql += filter.outcome ? " AND r.outcome = $6" : " AND $6::text IS NULL";
  sql += filter.since ? " AND r.received_us >= $7" : " AND $7::bigint IS NULL";
  sql += filter.until ? " AND r.received_us <= $8" : " AND $8::bigint IS NULL";
  sql += filter.environment.empty() ? " AND $10 = ''" : " AND r.comparable_key = $10";
  sql += filter.before.empty() ? " AND $9::bigint IS NULL" : " AND r.seq < $9";
  return sql + " ORDER BY r.seq DESC LIMIT $2";
}

/// The row number that a page ends before: nothing where it is the first page.
Result<std::optional<std::int64_t>> cursor_of(PostgresConnection& connection, const RunFilter& filter) {
  std::optional<std::int64_t> seq;
  if (filter.before.empty()) return seq;
  Rows row = connection.query(
      "SELECT r.seq FROM run r JOIN project p ON p.id = r.project_id WHERE r.id = $1 AND ($2 = '' OR p.name = $2)",
      filter.before, filter.project);
  if (!row.next()) return fail(ErrorCode::bad_query, "cursor: no run of the project has this id");
  row.read(seq);
  return seq;
}

}  // namespace

std::optional<LockedRun> lock_run(PostgresConnection& connection, std::string_view project, std::string_view id) {
  return read_locked(connection, connection.query("SELECT r.seq FROM run r JOIN project p ON p.id = r.project_id "
                                                  "WHERE r.id = $1 AND ($2 = '' OR p.name = $2) FOR NO KEY UPDATE OF r",
                                                  id, project));
}

std::optional<LockedRun> lock_group(PostgresConnection& connection, std::string_view project, std::string_view group) {
  return read_locked(connection,
                     connection.query("SELECT r.seq FROM run r JOIN project p ON p.id = r.project_id WHERE p.name = $1 "
                                      "AND r.group_key = $2 AND r.group_key <> '' FOR NO KEY UPDATE OF r",
                                      project, group));
}

Result<std::optional<RunRecord>> PostgresStore::run(std::string_view project, std::string_view id) {
  static const std::string sql = select_runs(Documents::all) + " WHERE r.id = $1 AND p.name = $2";
  return database_->read([&](PostgresConnection& connection) -> Result<std::optional<RunRecord>> {
    auto records = records_of(connection, connection.query(sql, id, project));
    if (records.empty()) return std::nullopt;
    records.front().acceptances = acceptances_of(connection, {.project = std::string(project), .run = std::string(id)});
    return std::move(records.front());
  });
}

Result<std::vector<RunRecord>> PostgresStore::runs(const RunFilter& filter) {
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<RunRecord>> {
    TRACEWEIR_TRY(cursor, cursor_of(connection, filter));
    const auto outcome = filter.outcome ? std::optional(gate::word(*filter.outcome)) : std::nullopt;
    return records_of(
        connection, connection.query(sql_of(filter), filter.project, std::max<std::int64_t>(filter.limit, 0),
                                     filter.branch, filter.commit, filter.workload, outcome, filter.since, filter.until,
                                     cursor, filter.environment));
  });
}

Result<std::vector<RunRecord>> PostgresStore::runs_of_commit(std::string_view project, std::string_view workload,
                                                             std::string_view commit) {
  static const std::string sql =
      select_runs(Documents::all) +
      " WHERE p.name = $1 AND r.commit_sha = $2 AND ($3 = '' OR l.workload = $3) ORDER BY r.seq";
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<RunRecord>> {
    return records_of(connection, connection.query(sql, project, commit, workload));
  });
}

Result<std::vector<RunRecord>> PostgresStore::unfinished_runs() {
  static const std::string sql =
      select_runs(Documents::none) + " WHERE r.status IN ('pending', 'analysing') ORDER BY r.seq";
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<RunRecord>> {
    return records_of(connection, connection.query(sql));
  });
}

}  // namespace traceweir::store
