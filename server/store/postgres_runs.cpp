#include <cmath>

#include "analyzer/core/assert.hpp"
#include "server/hash/sha256.hpp"
#include "server/store/postgres_store.hpp"
#include "server/store/run_group.hpp"

namespace traceweir::store {
namespace {

// From here on: recording an upload.

/// One statement records an upload, or tells why not: nothing in it is done where the key was seen before. `l` has no
/// row where another upload makes the same lane just now, `r` has none where the run's id is taken.
constexpr std::string_view insert_run =
    "WITH p AS (SELECT id FROM project WHERE name = $1), "
    "seen AS (SELECT r.id, u.sha256, u.rank, r.commit_sha, k.workload FROM p JOIN upload u ON u.project_id = p.id "
    "JOIN run r ON r.seq = u.run_seq JOIN lane k ON k.id = r.lane_id "
    "WHERE u.idempotency_key = $2::text), "
    "known_lane AS (SELECT l.id FROM p JOIN lane l ON l.project_id = p.id WHERE l.workload = $3 AND l.branch = $4), "
    "new_lane AS (INSERT INTO lane (project_id, workload, branch) SELECT p.id, $3, $4 FROM p "
    "WHERE NOT EXISTS (SELECT FROM known_lane) AND NOT EXISTS (SELECT FROM seen) ON CONFLICT DO NOTHING RETURNING id), "
    "l AS (SELECT id FROM known_lane UNION ALL SELECT id FROM new_lane), "
    "y AS (INSERT INTO policy (sha256, toml) SELECT $5::text, $6 FROM l "
    "WHERE $5::text IS NOT NULL AND NOT EXISTS (SELECT FROM seen) ON CONFLICT (sha256) DO NOTHING), "
    "r AS (INSERT INTO run (id, project_id, lane_id, commit_sha, base_branch, head_sha, base_sha, pull_request, fork, "
    "attempt, ci_run, job, matrix, job_url, run_key, ranks_expected, steps_glob, window_kind, skip_steps, "
    "policy_sha256, token_id, received_us, status, group_key, comparable_key, in_baseline, error_code, error_message) "
    "SELECT $7, p.id, l.id, $8, $9, $10, $11, $12::bigint, $13::boolean, $14::bigint, $15, $16, $17, $18, $19, "
    "$20::bigint, $21, $22, $23::bigint, $5::text, $24, $25::bigint, $26, $33, '', FALSE, '', '' "
    "FROM p, l WHERE NOT EXISTS (SELECT FROM seen) ON CONFLICT (id) DO NOTHING RETURNING seq), "
    "u AS (INSERT INTO upload (run_seq, rank, sha256, bytes, name, project_id, idempotency_key, status, "
    "received_us) SELECT r.seq, $27::bigint, $28, $29::bigint, $30, p.id, $2::text, $34, $25::bigint FROM p, r), "
    "e AS (INSERT INTO run_environment (run_seq, name, value) "
    "SELECT r.seq, n.name, n.value FROM r, unnest($31::text[], $32::text[]) AS n (name, value)), "
    "j AS (INSERT INTO analysis_job (run_seq, rank, holder, free_us, attempts) SELECT r.seq, $35::bigint, $36, "
    "CASE WHEN $36 = '' THEN 0 ELSE (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $37::bigint END, "
    "CASE WHEN $36 = '' THEN 0 ELSE 1 END FROM r) "
    "SELECT (SELECT id FROM p), (SELECT id FROM seen), (SELECT sha256 FROM seen), (SELECT rank FROM seen), "
    "(SELECT commit_sha FROM seen), (SELECT workload FROM seen), (SELECT id FROM l), "
    "(SELECT seq FROM r)";

/// What insert_run found and made.
struct Recorded {
  std::optional<std::int64_t> project;
  std::optional<std::string> seen_run, seen_sha256, seen_commit, seen_workload;
  std::optional<std::int64_t> seen_rank, lane, seq;
};

Recorded record(PostgresConnection& connection, const RunHead& head, const Upload& upload, const Claim& claim) {
  const auto key = head.idempotency_key.empty() ? std::nullopt : std::optional(head.idempotency_key);
  const auto policy = head.policy.empty() ? std::nullopt : std::optional(hash::sha256_hex(head.policy));
  std::vector<std::string> names, values;
  for (const auto& [name, value] : head.environment) {
    names.push_back(name);
    values.push_back(value);
  }
  const bool alone = head.group.empty();
  Recorded recorded;
  Rows row = connection.query(
      insert_run, head.project, key, head.workload, head.branch, policy, head.policy, head.id, head.commit,
      head.base_branch, head.head, head.base, head.pull_request, head.fork, head.attempt, head.ci_run, head.job,
      head.matrix, head.job_url, head.run_key, head.ranks_expected, head.steps_glob, head.window, head.skip_steps,
      head.token, head.received_at, word(alone ? RunStatus::analysing : RunStatus::pending), upload.rank, upload.sha256,
      upload.bytes, upload.name, names, values, head.group, word(alone ? UploadStatus::whole : UploadStatus::received),
      alone ? whole_run : upload.rank, claim.holder, std::chrono::microseconds(claim.lease).count());
  row.next();
  row.read(recorded.project, recorded.seen_run, recorded.seen_sha256, recorded.seen_rank, recorded.seen_commit,
           recorded.seen_workload, recorded.lane, recorded.seq);
  return recorded;
}

/// An upload with the same key, or another one that makes the same lane, was quicker: the next try sees what it made.
[[noreturn]] void lost_a_race() {
  throw PostgresFailure(PostgresFault::again, "busy: other uploads of the same kind were quicker each time");
}

Result<Begun> begun_of(const Recorded& recorded, const RunHead& head, const Upload& upload) {
  if (!recorded.project) return fail(ErrorCode::not_found, "project: no such project");
  if (recorded.seen_run) {
    const KeyUse before{*recorded.seen_run, recorded.seen_sha256.value_or(""), recorded.seen_commit.value_or(""),
                        recorded.seen_workload.value_or(""), recorded.seen_rank.value_or(0)};
    TRACEWEIR_TRY_VOID(check_same_use(before, head, upload));
    return Begun{before.run, Begun::State::seen_before};
  }
  if (!recorded.lane) lost_a_race();
  if (!recorded.seq) return fail(ErrorCode::conflict, "run " + head.id + " exists");
  return Begun{head.id, Begun::State::created};
}

/// What the project did with the idempotency key before.
std::optional<KeyUse> key_use(PostgresConnection& connection, const RunHead& head) {
  if (head.idempotency_key.empty()) return std::nullopt;
  Rows row = connection.query(
      "SELECT r.id, u.sha256, r.commit_sha, l.workload, u.rank FROM project p JOIN upload u ON u.project_id = p.id "
      "JOIN run r ON r.seq = u.run_seq JOIN lane l ON l.id = r.lane_id WHERE p.name = $1 AND u.idempotency_key = $2",
      head.project, head.idempotency_key);
  if (!row.next()) return std::nullopt;
  KeyUse before;
  row.read(before.run, before.sha256, before.commit, before.workload, before.rank);
  return before;
}

/// Adds the upload to the run of its group, if there is one. Nothing: it is the first, or its key was seen.
Result<std::optional<Begun>> join_group(PostgresConnection& connection, const RunHead& head, const Upload& upload,
                                        const Claim& claim) {
  if (head.group.empty()) return std::nullopt;
  const auto run = lock_group(connection, head.project, head.group);
  if (!run || key_use(connection, head)) return std::nullopt;
  TRACEWEIR_TRY(joining, joining_of(run->record, head, upload));
  if (joining == Joining::seen_before) return Begun{run->record.head.id, Begun::State::seen_before};
  const auto key = head.idempotency_key.empty() ? std::nullopt : std::optional(head.idempotency_key);
  connection.execute("DELETE FROM upload WHERE run_seq = $1 AND rank = $2 AND status = 'rejected'", run->seq,
                     upload.rank);
  connection.execute(
      "INSERT INTO upload (run_seq, rank, sha256, bytes, name, project_id, idempotency_key, status, received_us) "
      "SELECT r.seq, $2::bigint, $3, $4::bigint, $5, r.project_id, $6::text, 'received', $7::bigint FROM run r WHERE "
      "r.seq = $1",
      run->seq, upload.rank, upload.sha256, upload.bytes, upload.name, key, head.received_at);
  add_job(connection, run->seq, upload.rank, claim);
  return Begun{run->record.head.id, Begun::State::joined};
}

Result<Begun> join_or_record(PostgresConnection& connection, const RunHead& head, const Upload& upload,
                             const Claim& claim) {
  TRACEWEIR_TRY(joined, join_group(connection, head, upload, claim));
  if (joined) return *joined;
  return begun_of(record(connection, head, upload, claim), head, upload);
}

/// Two uploads with one key, or of one group, at once: the second waits for the first at the unique key and breaks it.
Result<Begun> begin_once(PostgresConnection& connection, const RunHead& head, const Upload& upload,
                         const Claim& claim) {
  try {
    return join_or_record(connection, head, upload, claim);
  } catch (const PostgresFailure& failure) {
    if (failure.names("upload_idempotency_key") || failure.names("run_by_group")) lost_a_race();
    throw;
  }
}

// From here on: recording a result.

struct Place {
  std::int64_t run;
  bool of_a_job;        ///< others may be attempts of the same
  std::int64_t values;  ///< written
};

/// The measured values in columns.
struct Values {
  std::vector<std::string> names;
  std::vector<double> values;
  std::vector<std::optional<double>> levels, lows, highs;
};

/// `o`: the runs of the same run key, or the same CI job, as the run $1, which is `r`. Lanes are asked for each of the
/// few runs of the commit: joined, a plan may begin with all runs of the lane.
constexpr std::string_view of_the_same_job =
    " FROM run r JOIN run o ON o.project_id = r.project_id AND o.commit_sha = r.commit_sha AND o.fork = r.fork "
    "AND o.pull_request IS NOT DISTINCT FROM r.pull_request "
    "AND ((r.run_key <> '' AND o.run_key = r.run_key) "
    "OR (r.ci_run <> '' AND o.ci_run = r.ci_run AND o.job = r.job AND o.matrix = r.matrix)) "
    "WHERE (SELECT k.workload FROM lane k WHERE k.id = o.lane_id) = (SELECT l.workload FROM lane l "
    "WHERE l.id = r.lane_id) AND ";

/// `o`: the runs of the same workload and commit as the run $1, which is `r` and among them. Lanes: as above.
constexpr std::string_view of_the_same_commit =
    " FROM run r JOIN run o ON o.project_id = r.project_id AND o.commit_sha = r.commit_sha "
    "WHERE (SELECT k.workload FROM lane k WHERE k.id = o.lane_id) = (SELECT l.workload FROM lane l "
    "WHERE l.id = r.lane_id) AND r.id = $1 ";

/// Runs of a commit may be finished at once. Each locks all of them first, so that the later one sees the earlier. The
/// time of the run, where there is no month for its values.
std::optional<Timestamp> lock_commit(PostgresConnection& connection, const std::string& run) {
  static const std::string sql =
      "SELECT o.seq, CASE WHEN NOT has_measurement_months(r.received_us) THEN r.received_us END" +
      std::string(of_the_same_commit) + "ORDER BY o.seq FOR NO KEY UPDATE OF o";
  std::optional<Timestamp> unmade;
  Rows row = connection.query(sql, run);
  if (row.next()) row.read_at(1, unmade);
  return unmade;
}

/// A verdict on several runs of a commit is of those that it knows.
Result<void> check_beside(PostgresConnection& connection, const RunResult& result) {
  if (!result.beside) return {};
  static const std::string sql =
      "SELECT count(*)" + std::string(of_the_same_commit) + "AND o.seq <> r.seq AND o.status = 'judged'";
  Rows rows = connection.query(sql, result.run);
  std::int64_t judged = 0;
  rows.next();
  rows.read(judged);
  if (judged == *result.beside) return {};
  return fail(ErrorCode::conflict, "run " + result.run + ": another run of its commit was judged meanwhile");
}

/// Marks a run as finished, keeps its documents and values, ends its jobs and tells its series, in one statement;
/// nothing where it is no open run, or its job is in another claim: then the transaction has to end without a trace.
/// The series of a run that other attempts may take out of it is told later.
std::optional<Place> mark_finished(PostgresConnection& connection, const RunResult& result, const Values& values) {
  const auto outcome = result.outcome ? std::optional(gate::word(*result.outcome)) : std::nullopt;
  Rows row = connection.query(
      "WITH gone AS (DELETE FROM analysis_job j USING run r WHERE r.id = $1 AND j.run_seq = r.seq "
      "AND (j.rank >= 0 OR j.holder = $12) RETURNING j.rank), "
      "closed AS (UPDATE run SET status = $2, outcome = $3::text, comparable_key = $4, "
      "in_baseline = $5::boolean AND NOT superseded, error_code = $6, error_message = $7, finished_us = $8::bigint, "
      "in_series = $11::boolean AND NOT superseded "
      "WHERE id = $1 AND (status = 'analysing' AND EXISTS (SELECT FROM gone WHERE rank < 0) "
      "OR status = 'pending' AND $12 = '') RETURNING seq, ci_run <> '' OR run_key <> '' AS of_a_job, received_us, "
      "lane_id, "
      "comparable_key, in_series), "
      "documents AS (INSERT INTO run_document (run_seq, report, verdict) SELECT seq, $9, $10 FROM closed), "
      "kept AS (INSERT INTO measurement (lane_id, metric_id, run_seq, received_us, value, level, low, high) "
      "SELECT c.lane_id, m.id, c.seq, c.received_us, n.value, n.level, n.low, n.high FROM closed c, "
      "unnest($13::text[], "
      "$14::double precision[], $15::double precision[], $16::double precision[], $17::double precision[]) "
      "AS n (name, value, level, low, high) JOIN metric m ON m.name = n.name RETURNING metric_id), "
      "told AS (INSERT INTO series (lane_id, comparable_key, version) SELECT lane_id, comparable_key, 1 FROM closed "
      "WHERE in_series AND NOT of_a_job ON CONFLICT (lane_id, comparable_key) "
      "DO UPDATE SET version = series.version + 1) "
      "SELECT seq, of_a_job, (SELECT count(*) FROM kept) FROM closed",
      result.run, word(result.status), outcome, result.comparable_key, result.in_baseline, result.error_code,
      result.error_message, result.finished_at, result.report_json, result.verdict_json, result.in_series,
      result.holder, values.names, values.values, values.levels, values.lows, values.highs);
  if (!row.next()) return std::nullopt;
  Place place{};
  row.read(place.run, place.of_a_job, place.values);
  return place;
}

Error why_not_closed(PostgresConnection& connection, const std::string& run) {
  bool has_result = false;
  Rows row = connection.query("SELECT status IN ('judged', 'rejected') FROM run WHERE id = $1", run);
  if (!row.next()) return {ErrorCode::not_found, "run " + run + ": no such run"};
  row.read(has_result);
  return {ErrorCode::conflict, "run " + run + (has_result ? " has a result already" : ": its job is in another claim")};
}

/// Attempts may be finished in any order, so a run that was judged looks both ways.
void settle_attempts(PostgresConnection& connection, std::int64_t run) {
  static const std::string lower =
      "UPDATE run SET superseded = TRUE, in_baseline = FALSE, in_series = FALSE WHERE seq IN (SELECT o.seq" +
      std::string(of_the_same_job) + "r.seq = $1 AND r.status = 'judged' AND o.attempt < r.attempt)";
  static const std::string own =
      "UPDATE run SET superseded = TRUE, in_baseline = FALSE, in_series = FALSE WHERE seq = $1 AND EXISTS (SELECT 1" +
      std::string(of_the_same_job) + "r.seq = $1 AND o.status = 'judged' AND o.attempt > r.attempt)";
  connection.execute(lower, run);
  connection.execute(own, run);
}

/// Metrics get their numbers when they are measured first. Only what is missing is inserted: an attempt that meets a
/// known name would use up a number each time.
void name_metrics(PostgresConnection& connection, const std::vector<std::string>& names) {
  connection.execute(
      "INSERT INTO metric (name) SELECT n.name FROM unnest($1::text[]) WITH ORDINALITY AS n (name, number) "
      "WHERE NOT EXISTS (SELECT FROM metric m WHERE m.name = n.name) ORDER BY n.number ON CONFLICT DO NOTHING",
      names);
}

/// Errors: internal (a value is not a number).
Result<Values> values_of(const RunResult& result) {
  Values columns;
  for (const auto& [metric, value] : result.values) {
    if (std::isnan(value)) return fail(ErrorCode::internal, "run " + result.run + ": " + metric + " is not a number");
    columns.names.push_back(metric);
    columns.values.push_back(value);
    const auto band = result.bands.find(metric);
    const bool compared = band != result.bands.end();
    columns.levels.push_back(compared ? std::optional(band->second.level) : std::nullopt);
    columns.lows.push_back(compared ? std::optional(band->second.low) : std::nullopt);
    columns.highs.push_back(compared ? std::optional(band->second.high) : std::nullopt);
  }
  return columns;
}

/// A metric that this process has seen in the database is there no more: another database was put in its place.
[[noreturn]] void meet_again() {
  throw PostgresFailure(PostgresFault::again, "a metric that was known is not there any more");
}

}  // namespace

void restore_attempts(PostgresConnection& connection, std::string_view project, std::string_view commit) {
  static const std::string sql =
      "UPDATE run SET superseded = FALSE WHERE project_id = (SELECT id FROM project WHERE name = $1) AND commit_sha = "
      "$2 "
      "AND superseded AND NOT EXISTS (SELECT 1" +
      std::string(of_the_same_job) + "r.seq = run.seq AND o.status = 'judged' AND o.attempt > r.attempt)";
  connection.execute(sql, project, commit);
}

Result<Begun> PostgresStore::begin_run(const RunHead& head, const Upload& upload, const Claim& claim) {
  const auto work = [&](PostgresConnection& connection) -> Result<Begun> {
    return begin_once(connection, head, upload, claim);
  };
  // An answer to a commit that got lost: the run's id is this call's own, so where it is, it was made by it. Where it
  // is not, it may still come; then the caller asks again, and its key tells.
  const auto resolve = [&]() -> Result<Begun> {
    TRACEWEIR_TRY(made, run(head.project, head.id));
    if (!made) return fail(ErrorCode::store_unavailable, "not known");
    return Begun{head.id, Begun::State::created};
  };
  return head.group.empty() ? database_->change(work, resolve) : database_->write(work, resolve);
}

Result<void> PostgresStore::check_run(const RunHead& head, const Upload& upload) {
  return database_->read([&](PostgresConnection& connection) -> Result<void> {
    const auto before = key_use(connection, head);
    const auto run = head.group.empty() ? std::nullopt : run_of_group(connection, head.project, head.group);
    return check_coming(before, run ? &*run : nullptr, head, upload);
  });
}

Result<void> PostgresStore::finish_run(const RunResult& result) {
  TRACEWEIR_ASSERT(result.status == RunStatus::judged || result.status == RunStatus::rejected);
  TRACEWEIR_TRY(values, values_of(result));
  std::optional<Timestamp> unmade;  // a time whose month has to be made first, in a transaction of its own
  const auto work = [&](PostgresConnection& connection) -> Result<void> {
    unmade = lock_commit(connection, result.run);
    if (unmade) return fail(ErrorCode::internal, "run " + result.run + ": there is no month for its values");
    TRACEWEIR_TRY_VOID(check_beside(connection, result));
    if (!known_metrics_.has(values.names)) name_metrics(connection, values.names);
    const auto place = mark_finished(connection, result, values);
    if (!place) return tl::unexpected(why_not_closed(connection, result.run));
    if (place->values != std::ssize(values.names)) known_metrics_.clear(), meet_again();
    TRACEWEIR_TRY_VOID(lean(connection, result.run, result.leans_on));
    if (!place->of_a_job) return {};
    settle_attempts(connection, place->run);
    touch_series(connection, result.run);
    return {};
  };
  auto done = database_->write(work);
  if (unmade) {
    TRACEWEIR_TRY_VOID(database_->write([&](PostgresConnection& connection) -> Result<void> {
      make_months(connection, *unmade);
      return {};
    }));
    done = database_->write(work);
  }
  if (done) known_metrics_.add(values.names);
  return done;
}

}  // namespace traceweir::store
