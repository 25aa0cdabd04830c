#include <algorithm>
#include <charconv>
#include <chrono>
#include <span>

#include "analyzer/core/assert.hpp"
#include "server/store/postgres_store.hpp"
#include "server/store/run_group.hpp"

namespace traceweir::store {
namespace {

/// The texts of an upload, as upload_of() reads them.
constexpr std::string_view upload_texts =
    "ARRAY[coalesce(u.idempotency_key, ''), u.rank::text, u.sha256, u.bytes::text, u.name, u.status, u.ranks::text, "
    "u.error_code, u.error_message, u.stated_ranks, coalesce(u.removed_us::text, ''), u.removed_why]";
constexpr std::size_t texts_per_upload = 12;

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
  sql +=
      ", ARRAY(SELECT t FROM run_environment e, unnest(ARRAY[e.name, e.value]) WITH ORDINALITY AS x (t, n) "
      "WHERE e.run_seq = r.seq ORDER BY e.name, n), ARRAY(SELECT t FROM upload u, unnest(" +
      std::string(upload_texts) + ") WITH ORDINALITY AS x (t, n) WHERE u.run_seq = r.seq ORDER BY u.rank, n) ";
  return sql +
         "FROM run r JOIN project p ON p.id = r.project_id JOIN lane l ON l.id = r.lane_id "
         "LEFT JOIN policy y ON y.sha256 = r.policy_sha256 LEFT JOIN run_document d ON d.run_seq = r.seq";
}

std::int64_t number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  TRACEWEIR_ASSERT(error == std::errc{} && end == text.data() + text.size());  // a bigint, as Postgres writes it
  return number;
}

/// `texts`: of one upload.
Upload upload_of(std::span<const std::string, texts_per_upload> texts) {
  Upload upload;
  upload.rank = number_in(texts[1]);
  upload.sha256 = texts[2];
  upload.bytes = number_in(texts[3]);
  upload.name = texts[4];
  upload.status = stored_word(upload_status_of(texts[5]));
  upload.ranks = number_in(texts[6]);
  upload.error_code = texts[7];
  upload.error_message = texts[8];
  upload.stated = ranks_of_text(texts[9]);
  if (!texts[10].empty()) upload.removed_at = Timestamp{std::chrono::microseconds{number_in(texts[10])}};
  upload.removed_why = texts[11];
  return upload;
}

void add_parts(const std::vector<std::string>& environment, const std::vector<std::string>& uploads, RunRecord& run) {
  for (std::size_t i = 0; i + 1 < environment.size(); i += 2)
    run.head.environment.emplace(environment[i], environment[i + 1]);
  if (!uploads.empty()) run.head.idempotency_key = uploads.front();
  for (std::size_t i = 0; i + texts_per_upload <= uploads.size(); i += texts_per_upload)
    run.uploads.push_back(upload_of(std::span(uploads).subspan(i).first<texts_per_upload>()));
}

RunRecord record_of(Rows& row) {
  std::int64_t seq = 0;
  RunRecord run;
  RunHead& head = run.head;
  std::string status;
  std::optional<std::string> outcome;
  std::vector<std::string> environment, uploads;
  row.read(seq, head.id, head.project, head.workload, head.commit, head.branch, head.base_branch, head.head, head.base,
           head.pull_request, head.fork, head.attempt, head.ci_run, head.job, head.matrix, head.job_url, head.run_key,
           head.ranks_expected, head.steps_glob, head.window, head.skip_steps, head.policy, head.token,
           head.received_at, status, outcome, run.comparable_key, run.in_baseline, run.error_code, run.error_message,
           run.finished_at, run.superseded, head.group, run.closed, run.verdict_json, run.report_json, environment,
           uploads);
  run.status = stored_word(run_status_of(status));
  if (outcome) run.outcome = stored_word(gate::outcome_of(*outcome));
  add_parts(environment, uploads, run);
  return run;
}

/// The runs of a query that selects `select_runs`.
std::vector<RunRecord> records_of(Rows row) {
  std::vector<RunRecord> records;
  records.reserve(static_cast<std::size_t>(row.count()));
  while (row.next()) records.push_back(record_of(row));
  return records;
}

/// The run of the row that was just locked: read again, since another transaction may have changed it before.
std::optional<LockedRun> read_locked(PostgresConnection& connection, Rows locked) {
  static const std::string sql = select_runs(Documents::none) + " WHERE r.seq = $1";
  if (!locked.next()) return std::nullopt;
  LockedRun run;
  locked.read(run.seq);
  auto records = records_of(connection.query(sql, run.seq));
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
  // No hex digit comes after f: a range that the index on commits has.
  sql += filter.commit_prefix.empty() ? " AND $11 = ''" : " AND r.commit_sha >= $11 AND r.commit_sha < $11 || 'g'";
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

std::optional<RunRecord> run_of_group(PostgresConnection& connection, std::string_view project,
                                      std::string_view group) {
  static const std::string sql =
      select_runs(Documents::none) + " WHERE p.name = $1 AND r.group_key = $2 AND r.group_key <> ''";
  auto records = records_of(connection.query(sql, project, group));
  return records.empty() ? std::nullopt : std::optional(std::move(records.front()));
}

Result<std::optional<RunRecord>> PostgresStore::run(std::string_view project, std::string_view id) {
  static const std::string sql = select_runs(Documents::all) + " WHERE r.id = $1 AND p.name = $2";
  static const std::string unaccepted = sql + " AND NOT EXISTS (SELECT FROM acceptance a WHERE a.run_seq = r.seq)";
  // Of most runs nothing is accepted: those are told by one statement.
  TRACEWEIR_TRY(found, database_->ask([&](PostgresConnection& connection) -> Result<std::vector<RunRecord>> {
    return records_of(connection.query(unaccepted, id, project));
  }));
  if (!found.empty()) return std::move(found.front());
  return database_->read([&](PostgresConnection& connection) -> Result<std::optional<RunRecord>> {
    auto records = records_of(connection.query(sql, id, project));
    if (records.empty()) return std::nullopt;
    records.front().acceptances = acceptances_of(connection, {.project = std::string(project), .run = std::string(id)});
    return std::move(records.front());
  });
}

Result<std::vector<RunRecord>> PostgresStore::runs(const RunFilter& filter) {
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<RunRecord>> {
    TRACEWEIR_TRY(cursor, cursor_of(connection, filter));
    const auto outcome = filter.outcome ? std::optional(gate::word(*filter.outcome)) : std::nullopt;
    return records_of(connection.query(sql_of(filter), filter.project, std::max<std::int64_t>(filter.limit, 0),
                                       filter.branch, filter.commit, filter.workload, outcome, filter.since,
                                       filter.until, cursor, filter.environment, filter.commit_prefix));
  });
}

Result<std::vector<RunRecord>> PostgresStore::runs_of_commit(std::string_view project, std::string_view workload,
                                                             std::string_view commit, Documents documents) {
  const std::string sql = select_runs(documents) +
                          " WHERE r.project_id = (SELECT id FROM project WHERE name = $1) AND r.commit_sha = $2 "
                          "AND ($3 = '' OR l.workload = $3) ORDER BY r.seq";
  return database_->ask([&](PostgresConnection& connection) -> Result<std::vector<RunRecord>> {
    return records_of(connection.query(sql, project, commit, workload));
  });
}

Result<std::vector<RunRecord>> PostgresStore::unfinished_runs() {
  static const std::string sql =
      select_runs(Documents::none) + " WHERE r.status IN ('pending', 'analysing') ORDER BY r.seq";
  return database_->ask([&](PostgresConnection& connection) -> Result<std::vector<RunRecord>> {
    return records_of(connection.query(sql));
  });
}

}  // namespace traceweir::store
