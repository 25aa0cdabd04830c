#include <algorithm>
#include <cmath>

#include "analyzer/core/assert.hpp"
#include "server/store/run_group.hpp"
#include "server/store/sqlite_store.hpp"

namespace traceweir::store {
namespace {

// From here on: recording an upload.

/// Nothing, or the run that the key made before.
Result<std::optional<Begun>> seen_before(Connection& connection, std::int64_t project, const RunHead& head,
                                         const Upload& upload) {
  const auto before = key_use(connection, project, head);
  if (!before) return std::nullopt;
  TRACEWEIR_TRY_VOID(check_same_use(*before, head, upload));
  return Begun{before->run, Begun::State::seen_before};
}

std::int64_t lane_number(Connection& connection, std::int64_t project, const RunHead& head) {
  connection.execute("INSERT INTO lane (project_id, workload, branch) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                     project, head.workload, head.branch);
  std::int64_t lane = 0;
  Query query = connection.query("SELECT id FROM lane WHERE project_id = ?1 AND workload = ?2 AND branch = ?3", project,
                                 head.workload, head.branch);
  query.next();
  query.read(lane);
  return lane;
}

/// Returns the row number, or nothing where the id is taken.
std::optional<std::int64_t> add_run(Connection& connection, std::int64_t project, const RunHead& head) {
  const auto lane = lane_number(connection, project, head);
  const auto policy = keep_policy(connection, head.policy);
  std::optional<std::int64_t> seq;
  Query query = connection.query(
      "INSERT INTO run (id, project_id, lane_id, commit_sha, base_branch, head_sha, base_sha, pull_request, fork, "
      "attempt, ci_run, job, matrix, job_url, run_key, ranks_expected, steps_glob, window_kind, skip_steps, "
      "policy_sha256, token_id, received_us, status, group_key, comparable_key, in_baseline, error_code, "
      "error_message) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, "
      "?23, ?24, '', 0, '', '') ON CONFLICT (id) DO NOTHING RETURNING seq",
      head.id, project, lane, head.commit, head.base_branch, head.head, head.base, head.pull_request, head.fork,
      head.attempt, head.ci_run, head.job, head.matrix, head.job_url, head.run_key, head.ranks_expected,
      head.steps_glob, head.window, head.skip_steps, policy, head.token, head.received_at,
      word(head.group.empty() ? RunStatus::analysing : RunStatus::pending), head.group);
  if (query.next()) query.read(seq);
  return seq;
}

void add_upload(Connection& connection, std::int64_t project, std::int64_t run, const RunHead& head,
                const Upload& upload) {
  const auto key = head.idempotency_key.empty() ? std::nullopt : std::optional(head.idempotency_key);
  connection.execute(
      "INSERT INTO upload (run_seq, rank, sha256, bytes, name, project_id, idempotency_key, status, received_us) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
      run, upload.rank, upload.sha256, upload.bytes, upload.name, project, key,
      word(head.group.empty() ? UploadStatus::whole : UploadStatus::received), head.received_at);
}

/// Adds the upload to the run of its group, if there is one. Nothing: it is the first.
Result<std::optional<Begun>> join_group(Connection& connection, std::int64_t project, const RunHead& head,
                                        const Upload& upload, const Claim& claim) {
  if (head.group.empty()) return std::nullopt;
  const auto run = run_of_group(connection, head.project, head.group);
  if (!run) return std::nullopt;
  TRACEWEIR_TRY(joining, joining_of(run->record, head, upload));
  if (joining == Joining::seen_before) return Begun{run->record.head.id, Begun::State::seen_before};
  connection.execute("DELETE FROM upload WHERE run_seq = ?1 AND rank = ?2 AND status = 'rejected'", run->seq,
                     upload.rank);
  add_upload(connection, project, run->seq, head, upload);
  add_job(connection, run->seq, upload.rank, claim);
  return Begun{run->record.head.id, Begun::State::joined};
}

// From here on: recording a result.

struct Place {
  std::int64_t run, lane;
  Timestamp received_at;
};

/// Marks a run as finished; tells where its values go.
Result<Place> mark_finished(Connection& connection, const RunResult& result) {
  const auto outcome = result.outcome ? std::optional(gate::word(*result.outcome)) : std::nullopt;
  Query query = connection.query(
      "UPDATE run SET status = ?2, outcome = ?3, comparable_key = ?4, in_baseline = ?5 AND NOT superseded, error_code "
      "= ?6, error_message = ?7, finished_us = ?8, in_series = ?9 AND NOT superseded "
      "WHERE id = ?1 AND status IN ('pending', 'analysing') "
      "RETURNING seq, lane_id, received_us",
      result.run, word(result.status), outcome, result.comparable_key, result.in_baseline, result.error_code,
      result.error_message, result.finished_at, result.in_series);
  if (query.next()) {
    Place place{};
    query.read(place.run, place.lane, place.received_at);
    return place;
  }
  if (connection.query("SELECT 1 FROM run WHERE id = ?1", result.run).next())
    return fail(ErrorCode::conflict, "run " + result.run + " has a result already");
  return fail(ErrorCode::not_found, "run " + result.run + ": no such run");
}

/// Ends the jobs of the run. Its own has to be in this claim; a run that waited for ranks has none.
Result<void> finish_jobs(Connection& connection, std::int64_t run, const std::string& holder) {
  const bool has_own =
      connection.query("SELECT 1 FROM analysis_job WHERE run_seq = ?1 AND rank = ?2", run, whole_run).next();
  if (has_own || !holder.empty()) TRACEWEIR_TRY_VOID(finish_job(connection, run, whole_run, holder));
  connection.execute("DELETE FROM analysis_job WHERE run_seq = ?1", run);
  return {};
}

/// `o`: the runs of the same run key, or the same CI job, as the run ?1, which is `r`.
constexpr std::string_view of_the_same_job =
    " FROM run r JOIN lane l ON l.id = r.lane_id "
    "JOIN run o ON o.project_id = r.project_id AND o.commit_sha = r.commit_sha AND o.fork = r.fork "
    "AND o.pull_request IS r.pull_request "
    "AND ((r.run_key <> '' AND o.run_key = r.run_key) "
    "OR (r.ci_run <> '' AND o.ci_run = r.ci_run AND o.job = r.job AND o.matrix = r.matrix)) "
    "JOIN lane k ON k.id = o.lane_id AND k.workload = l.workload WHERE r.seq = ";

/// A verdict on several runs of a commit is of those that it knows.
Result<void> check_beside(Connection& connection, const RunResult& result) {
  if (!result.beside) return {};
  Query query = connection.query(
      "SELECT count(*) FROM run r JOIN lane l ON l.id = r.lane_id "
      "JOIN run o ON o.project_id = r.project_id AND o.commit_sha = r.commit_sha AND o.seq <> r.seq "
      "JOIN lane k ON k.id = o.lane_id AND k.workload = l.workload WHERE r.id = ?1 AND o.status = 'judged'",
      result.run);
  std::int64_t judged = 0;
  query.next();
  query.read(judged);
  if (judged == *result.beside) return {};
  return fail(ErrorCode::conflict, "run " + result.run + ": another run of its commit was judged meanwhile");
}

/// Attempts may be finished in any order, so a run that was judged looks both ways.
void settle_attempts(Connection& connection, Place place) {
  static const std::string lower =
      "UPDATE run SET superseded = 1, in_baseline = 0, in_series = 0 WHERE seq IN (SELECT o.seq" +
      std::string(of_the_same_job) + "?1 AND r.status = 'judged' AND o.attempt < r.attempt)";
  static const std::string own =
      "UPDATE run SET superseded = 1, in_baseline = 0, in_series = 0 WHERE seq = ?1 AND EXISTS (SELECT 1" +
      std::string(of_the_same_job) + "?1 AND o.status = 'judged' AND o.attempt > r.attempt)";
  connection.execute(lower, place.run);
  connection.execute(own, place.run);
}

struct BandColumns {
  std::optional<double> level, low, high;
};

BandColumns band_of(const RunResult& result, const std::string& metric) {
  const auto band = result.bands.find(metric);
  if (band == result.bands.end()) return {};
  return {band->second.level, band->second.low, band->second.high};
}

/// Returns whether the metric has a number yet, without which its value cannot be kept.
bool add_value(Connection& connection, Place place, const std::pair<std::string, double>& value,
               const BandColumns& band) {
  return connection.execute(
             "INSERT INTO measurement (lane_id, metric_id, run_seq, value, level, low, high, received_us) "
             "SELECT ?1, id, ?2, ?3, ?5, ?6, ?7, ?8 FROM metric WHERE name = ?4",
             place.lane, place.run, value.second, value.first, band.level, band.low, band.high, place.received_at) == 1;
}

Result<void> add_values(Connection& connection, Place place, const RunResult& result) {
  for (const auto& value : result.values) {
    const std::string& metric = value.first;
    // SQLite would keep a NaN as NULL: what was not measured has no value at all.
    if (std::isnan(value.second))
      return fail(ErrorCode::internal, "run " + result.run + ": " + metric + " is not a number");
    const BandColumns band = band_of(result, metric);
    if (add_value(connection, place, value, band)) continue;
    connection.execute("INSERT INTO metric (name) VALUES (?1)", metric);
    add_value(connection, place, value, band);
  }
  return {};
}

// From here on: reading runs.

constexpr std::string_view select_runs =
    "SELECT r.seq, r.id, p.name, l.workload, r.commit_sha, l.branch, r.base_branch, r.head_sha, r.base_sha, "
    "r.pull_request, r.fork, r.attempt, r.ci_run, r.job, r.matrix, r.job_url, r.run_key, r.ranks_expected, "
    "r.steps_glob, r.window_kind, r.skip_steps, coalesce(y.toml, ''), r.token_id, r.received_us, "
    "r.status, r.outcome, r.comparable_key, r.in_baseline, r.error_code, r.error_message, r.finished_us, "
    "r.superseded, r.group_key, r.closed "
    "FROM run r JOIN project p ON p.id = r.project_id JOIN lane l ON l.id = r.lane_id "
    "LEFT JOIN policy y ON y.sha256 = r.policy_sha256";

StoredRun row_of(Query& query) {
  StoredRun row;
  RunRecord& run = row.record;
  RunHead& head = run.head;
  std::string status;
  std::optional<std::string> outcome;
  query.read(row.seq, head.id, head.project, head.workload, head.commit, head.branch, head.base_branch, head.head,
             head.base, head.pull_request, head.fork, head.attempt, head.ci_run, head.job, head.matrix, head.job_url,
             head.run_key, head.ranks_expected, head.steps_glob, head.window, head.skip_steps, head.policy, head.token,
             head.received_at, status, outcome, run.comparable_key, run.in_baseline, run.error_code, run.error_message,
             run.finished_at, run.superseded, head.group, run.closed);
  run.status = known(run_status_of(status));
  if (outcome) run.outcome = known(gate::outcome_of(*outcome));
  return row;
}

void read_environment(Connection& connection, StoredRun& row) {
  std::string name, value;
  Query query = connection.query("SELECT name, value FROM run_environment WHERE run_seq = ?1", row.seq);
  while (query.next()) {
    query.read(name, value);
    row.record.head.environment.emplace(name, value);
  }
}

void read_uploads(Connection& connection, StoredRun& row) {
  Query query = connection.query(
      "SELECT coalesce(idempotency_key, ''), rank, sha256, bytes, name, status, ranks, error_code, error_message, "
      "stated_ranks, removed_us, removed_why "
      "FROM upload WHERE run_seq = ?1 ORDER BY rank",
      row.seq);
  while (query.next()) {
    Upload& upload = row.record.uploads.emplace_back();
    std::string key, status, stated;
    query.read(key, upload.rank, upload.sha256, upload.bytes, upload.name, status, upload.ranks, upload.error_code,
               upload.error_message, stated, upload.removed_at, upload.removed_why);
    upload.stated = ranks_of_text(stated);
    upload.status = known(upload_status_of(status));
    if (row.record.uploads.size() == 1) row.record.head.idempotency_key = key;
  }
}

void read_documents(Connection& connection, StoredRun& row, Documents documents) {
  if (documents == Documents::none) return;
  const bool all = documents == Documents::all;
  Query query = connection.query(all ? "SELECT verdict, report FROM run_document WHERE run_seq = ?1"
                                     : "SELECT verdict FROM run_document WHERE run_seq = ?1",
                                 row.seq);
  if (!query.next()) return;
  if (all)
    query.read(row.record.verdict_json, row.record.report_json);
  else
    query.read(row.record.verdict_json);
}

std::optional<StoredRun> one_run(Connection& connection, Query query) {
  if (!query.next()) return std::nullopt;
  StoredRun run = row_of(query);
  read_environment(connection, run);
  read_uploads(connection, run);
  return run;
}

/// The runs of a query that selects `select_runs`.
std::vector<RunRecord> records_of(Connection& connection, Query& query, Documents documents) {
  std::vector<RunRecord> records;
  while (query.next()) {
    StoredRun row = row_of(query);
    read_environment(connection, row);
    read_uploads(connection, row);
    read_documents(connection, row, documents);
    records.push_back(std::move(row.record));
  }
  return records;
}

/// The SQL of a filter. ?1 is the project and ?2 the limit. A field that does not filter stands as a condition on its
/// parameter alone, so that every parameter occurs and the text never depends on what a field holds.
std::string sql_of(const RunFilter& filter) {
  std::string sql(select_runs);
  sql += filter.project.empty() ? " WHERE ?1 = ''" : " WHERE p.name = ?1";
  sql += filter.branch.empty() ? " AND ?3 = ''" : " AND l.branch = ?3";
  sql += filter.commit.empty() ? " AND ?4 = ''" : " AND r.commit_sha = ?4";
  sql += filter.workload.empty() ? " AND ?5 = ''" : " AND l.workload = ?5";
  sql += filter.outcome ? " AND r.outcome = ?6" : " AND ?6 IS NULL";
  sql += filter.since ? " AND r.received_us >= ?7" : " AND ?7 IS NULL";
  sql += filter.until ? " AND r.received_us <= ?8" : " AND ?8 IS NULL";
  sql += filter.environment.empty() ? " AND ?10 = ''" : " AND r.comparable_key = ?10";
  // No hex digit comes after f: a range that the index on commits has.
  sql += filter.commit_prefix.empty() ? " AND ?11 = ''" : " AND r.commit_sha >= ?11 AND r.commit_sha < ?11 || 'g'";
  sql += filter.before.empty() ? " AND ?9 IS NULL" : " AND r.seq < ?9";
  return sql + " ORDER BY r.seq DESC LIMIT ?2";
}

/// The row number that a page ends before: nothing where it is the first page.
Result<std::optional<std::int64_t>> cursor_of(Connection& connection, const RunFilter& filter) {
  std::optional<std::int64_t> seq;
  if (filter.before.empty()) return seq;
  Query query = connection.query(
      "SELECT r.seq FROM run r JOIN project p ON p.id = r.project_id WHERE r.id = ?1 AND (?2 = '' OR p.name = ?2)",
      filter.before, filter.project);
  if (!query.next()) return fail(ErrorCode::bad_query, "cursor: no run of the project has this id");
  query.read(seq);
  return seq;
}

}  // namespace

void restore_attempts(Connection& connection, std::string_view project, std::string_view commit) {
  static const std::string sql =
      "UPDATE run SET superseded = 0 WHERE project_id = (SELECT id FROM project WHERE name = ?1) AND commit_sha = ?2 "
      "AND superseded AND NOT EXISTS (SELECT 1" +
      std::string(of_the_same_job) + "run.seq AND o.status = 'judged' AND o.attempt > r.attempt)";
  connection.execute(sql, project, commit);
}

std::optional<StoredRun> run_with_id(Connection& connection, std::string_view project, std::string_view id) {
  return one_run(connection,
                 connection.query(std::string(select_runs) + " WHERE r.id = ?1 AND p.name = ?2", id, project));
}

std::optional<StoredRun> run_of_group(Connection& connection, std::string_view project, std::string_view group) {
  return one_run(connection, connection.query(std::string(select_runs) +
                                                  " WHERE p.name = ?1 AND r.group_key = ?2 AND r.group_key <> ''",
                                              project, group));
}

Result<Begun> SqliteStore::begin_run(const RunHead& head, const Upload& upload, const Claim& claim) {
  return database_->write([&](Connection& connection) -> Result<Begun> {
    const auto project = project_number(connection, head.project);
    if (!project) return fail(ErrorCode::not_found, "project: no such project");
    TRACEWEIR_TRY(before, seen_before(connection, *project, head, upload));
    if (before) return *before;
    TRACEWEIR_TRY(joined, join_group(connection, *project, head, upload, claim));
    if (joined) return *joined;
    const auto run = add_run(connection, *project, head);
    if (!run) return fail(ErrorCode::conflict, "run " + head.id + " exists");
    add_upload(connection, *project, *run, head, upload);
    add_job(connection, *run, head.group.empty() ? whole_run : upload.rank, claim);
    for (const auto& [name, value] : head.environment)
      connection.execute("INSERT INTO run_environment (run_seq, name, value) VALUES (?1, ?2, ?3)", *run, name, value);
    return Begun{head.id, Begun::State::created};
  });
}

Result<void> SqliteStore::finish_run(const RunResult& result) {
  TRACEWEIR_ASSERT(result.status == RunStatus::judged || result.status == RunStatus::rejected);
  return database_->write([&](Connection& connection) -> Result<void> {
    TRACEWEIR_TRY_VOID(check_beside(connection, result));
    TRACEWEIR_TRY(place, mark_finished(connection, result));
    TRACEWEIR_TRY_VOID(finish_jobs(connection, place.run, result.holder));
    settle_attempts(connection, place);
    connection.execute("INSERT INTO run_document (run_seq, report, verdict) VALUES (?1, ?2, ?3)", place.run,
                       result.report_json, result.verdict_json);
    TRACEWEIR_TRY_VOID(add_values(connection, place, result));
    TRACEWEIR_TRY_VOID(lean(connection, result.run, result.leans_on));
    touch_series(connection, result.run);
    return {};
  });
}

Result<std::optional<RunRecord>> SqliteStore::run(std::string_view project, std::string_view id) {
  return database_->read([&](Connection& connection) -> Result<std::optional<RunRecord>> {
    Query query = connection.query(std::string(select_runs) + " WHERE r.id = ?1 AND p.name = ?2", id, project);
    auto records = records_of(connection, query, Documents::all);
    if (records.empty()) return std::nullopt;
    records.front().acceptances = acceptances_of(connection, {.project = std::string(project), .run = std::string(id)});
    return std::move(records.front());
  });
}

Result<std::vector<RunRecord>> SqliteStore::runs(const RunFilter& filter) {
  return database_->read([&](Connection& connection) -> Result<std::vector<RunRecord>> {
    TRACEWEIR_TRY(cursor, cursor_of(connection, filter));
    const auto outcome = filter.outcome ? std::optional(gate::word(*filter.outcome)) : std::nullopt;
    Query query = connection.query(sql_of(filter), filter.project, std::max<std::int64_t>(filter.limit, 0),
                                   filter.branch, filter.commit, filter.workload, outcome, filter.since, filter.until,
                                   cursor, filter.environment, filter.commit_prefix);
    return records_of(connection, query, Documents::verdict);
  });
}

Result<std::vector<RunRecord>> SqliteStore::runs_of_commit(std::string_view project, std::string_view workload,
                                                           std::string_view commit, Documents documents) {
  return database_->read([&](Connection& connection) -> Result<std::vector<RunRecord>> {
    Query query =
        connection.query(std::string(select_runs) +
                             " WHERE p.name = ?1 AND r.commit_sha = ?2 AND (?3 = '' OR l.workload = ?3) ORDER BY r.seq",
                         project, commit, workload);
    return records_of(connection, query, documents);
  });
}

Result<std::vector<RunRecord>> SqliteStore::unfinished_runs() {
  return database_->read([&](Connection& connection) -> Result<std::vector<RunRecord>> {
    Query query =
        connection.query(std::string(select_runs) + " WHERE r.status IN ('pending', 'analysing') ORDER BY r.seq");
    return records_of(connection, query, Documents::none);
  });
}

}  // namespace traceweir::store
