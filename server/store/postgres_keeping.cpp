#include <set>
#include <string>

#include "server/store/postgres_store.hpp"

namespace traceweir::store {
namespace {

/// `u`, `r`: an upload whose trace retention may remove.
constexpr std::string_view is_removable =
    "u.removed_us IS NULL AND r.status IN ('judged', 'rejected') AND coalesce(r.outcome, '') <> 'fail' "
    "AND NOT EXISTS (SELECT 1 FROM acceptance a WHERE a.run_seq = r.seq AND a.undone_us IS NULL)";

/// How many runs lose their values in one transaction.
constexpr std::int64_t runs_at_once = 200;

std::vector<std::string> kept_blobs(PostgresConnection& connection, std::int64_t run) {
  std::vector<std::string> blobs;
  Rows row = connection.query("SELECT sha256 FROM upload WHERE run_seq = $1 AND removed_us IS NULL", run);
  while (row.next()) row.read(blobs.emplace_back());
  return blobs;
}

/// Runs that are in the baseline only by an acceptance of this one are not any more.
void unlean(PostgresConnection& connection, std::int64_t run) {
  connection.execute(
      "UPDATE run SET in_baseline = FALSE WHERE seq IN (SELECT l.run_seq FROM run_acceptance l JOIN acceptance a "
      "ON a.seq = l.acceptance_seq WHERE a.run_seq = $1)",
      run);
}

bool was_deleted(PostgresConnection& connection, std::string_view project, std::string_view action,
                 std::string_view detail) {
  return connection
      .query("SELECT 1 FROM audit WHERE project = $1 AND action = $2 AND detail = $3", project, action, detail)
      .next();
}

std::vector<std::int64_t> oldest_runs(PostgresConnection& connection, std::int64_t project, std::int64_t limit) {
  std::vector<std::int64_t> runs;
  Rows row = connection.query("SELECT seq FROM run WHERE project_id = $1 ORDER BY seq LIMIT $2", project, limit);
  while (row.next()) row.read(runs.emplace_back());
  return runs;
}

}  // namespace

Result<Usage> PostgresStore::usage(const UsageQuery& query) {
  return database_->read([&](PostgresConnection& connection) -> Result<Usage> {
    Usage usage;
    const auto number = project_number(connection, query.project);
    if (!number) return usage;
    Rows stored = connection.query(
        "SELECT coalesce(sum(bytes), 0)::bigint FROM upload WHERE project_id = $1 AND removed_us IS NULL", *number);
    if (stored.next()) stored.read(usage.stored_bytes);
    Rows came = connection.query("SELECT count(*) FROM upload WHERE project_id = $1 AND received_us >= $2", *number,
                                 query.since);
    if (came.next()) came.read(usage.uploads);
    if (query.idempotency_key.empty()) return usage;
    Rows keyed = connection.query("SELECT bytes FROM upload WHERE project_id = $1 AND idempotency_key = $2", *number,
                                  query.idempotency_key);
    if (keyed.next()) keyed.read(usage.key_bytes);
    return usage;
  });
}

Result<std::vector<KeptTrace>> PostgresStore::removable_traces(const TraceQuery& query) {
  static const std::string sql =
      "SELECT r.id, u.rank, u.sha256, u.bytes, u.received_us FROM project p JOIN upload u ON u.project_id = p.id "
      "JOIN run r ON r.seq = u.run_seq WHERE p.name = $1 AND u.received_us < $2 AND " +
      std::string(is_removable) + " ORDER BY u.received_us, u.run_seq, u.rank LIMIT $3";
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<KeptTrace>> {
    std::vector<KeptTrace> traces;
    Rows row = connection.query(sql, query.project, query.received_before, query.limit);
    while (row.next()) {
      KeptTrace& trace = traces.emplace_back();
      row.read(trace.run, trace.rank, trace.sha256, trace.bytes, trace.received_at);
    }
    return traces;
  });
}

Result<bool> PostgresStore::remove_trace(const TraceRemoval& removal) {
  static const std::string sql =
      "UPDATE upload SET removed_us = $4::bigint, removed_why = $5 WHERE rank = $2::bigint AND sha256 = $3 AND run_seq "
      "= "
      "(SELECT r.seq FROM run r JOIN upload u ON u.run_seq = r.seq AND u.rank = $2::bigint WHERE r.id = $1 AND " +
      std::string(is_removable) + ")";
  return database_->write([&](PostgresConnection& connection) -> Result<bool> {
    const KeptTrace& trace = removal.trace;
    return connection.execute(sql, trace.run, trace.rank, trace.sha256, removal.at, removal.why) == 1;
  });
}

Result<Deleted> PostgresStore::delete_run(std::string_view project, std::string_view id, const AuditEntry& audit) {
  return database_->write([&](PostgresConnection& connection) -> Result<Deleted> {
    const auto run = lock_run(connection, project, id);
    if (!run && was_deleted(connection, project, audit.action, audit.detail)) return Deleted{};
    if (!run) return fail(ErrorCode::not_found, "there is no such run in this project");
    Deleted deleted{1, true, kept_blobs(connection, run->seq)};
    unlean(connection, run->seq);
    touch_series(connection, id);
    connection.execute("DELETE FROM run WHERE seq = $1", run->seq);
    restore_attempts(connection, run->record.head.project, run->record.head.commit);
    note(connection, audit);
    return deleted;
  });
}

Result<Deleted> PostgresStore::delete_project(std::string_view name, std::int64_t runs_max, const AuditEntry& audit) {
  return database_->write([&](PostgresConnection& connection) -> Result<Deleted> {
    const auto project = project_number(connection, name);
    if (!project && was_deleted(connection, name, audit.action, audit.detail)) return Deleted{};
    if (!project) return fail(ErrorCode::not_found, "project: no such project");
    Deleted deleted;
    const auto runs = oldest_runs(connection, *project, runs_max);
    for (const std::int64_t run : runs) {
      for (std::string& blob : kept_blobs(connection, run)) deleted.blobs.push_back(std::move(blob));
      connection.execute("DELETE FROM run WHERE seq = $1", run);
    }
    deleted.runs = std::ssize(runs);
    deleted.is_whole = deleted.runs < runs_max;
    if (!deleted.is_whole) return deleted;
    connection.execute("DELETE FROM project WHERE id = $1", *project);
    note(connection, audit);
    return deleted;
  });
}

Result<std::string> PostgresStore::identity(std::string_view if_none) {
  const auto read = [](PostgresConnection& connection) -> Result<std::string> {
    std::string id;
    Rows row = connection.query("SELECT id FROM store_identity");
    if (row.next()) row.read(id);
    return id;
  };
  TRACEWEIR_TRY(known, database_->read(read));
  if (!known.empty()) return known;
  return database_->write([&](PostgresConnection& connection) -> Result<std::string> {
    connection.execute("INSERT INTO store_identity (one, id) VALUES (1, $1) ON CONFLICT DO NOTHING", if_none);
    return read(connection);
  });
}

Result<std::optional<std::string>> PostgresStore::newest_blob() {
  return database_->read([&](PostgresConnection& connection) -> Result<std::optional<std::string>> {
    std::optional<std::string> sha256;
    Rows row = connection.query("SELECT sha256 FROM upload WHERE removed_us IS NULL ORDER BY received_us DESC LIMIT 1");
    if (row.next()) row.read(sha256.emplace());
    return sha256;
  });
}

}  // namespace traceweir::store
