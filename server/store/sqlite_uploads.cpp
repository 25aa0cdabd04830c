#include "server/store/run_group.hpp"
#include "server/store/sqlite_store.hpp"

namespace traceweir::store {
namespace {

/// The run with this id, of whatever project.
std::optional<StoredRun> run_of(Connection& connection, const std::string& id) {
  std::string project;
  Query query = connection.query("SELECT p.name FROM run r JOIN project p ON p.id = r.project_id WHERE r.id = ?1", id);
  if (!query.next()) return std::nullopt;
  query.read(project);
  return run_with_id(connection, project, id);
}

void write(Connection& connection, std::int64_t run, const Upload& upload) {
  connection.execute(
      "UPDATE upload SET status = ?3, ranks = ?4, error_code = ?5, error_message = ?6, stated_ranks = ?7 "
      "WHERE run_seq = ?1 AND rank = ?2",
      run, upload.rank, word(upload.status), upload.ranks, upload.error_code, upload.error_message,
      text_of_ranks(upload.stated));
}

/// Lets a pending run that waits for nothing more go on. Tells how it stands.
RunStatus go_on(Connection& connection, const StoredRun& run) {
  if (run.record.status != RunStatus::pending || !is_complete(run.record)) return run.record.status;
  connection.execute("UPDATE run SET status = 'analysing' WHERE seq = ?1 AND status = 'pending'", run.seq);
  add_job(connection, run.seq, whole_run, {});
  return RunStatus::analysing;
}

}  // namespace

std::optional<KeyUse> key_use(Connection& connection, std::int64_t project, const RunHead& head) {
  if (head.idempotency_key.empty()) return std::nullopt;
  Query query = connection.query(
      "SELECT r.id, u.sha256, r.commit_sha, l.workload, u.rank FROM upload u JOIN run r ON r.seq = u.run_seq "
      "JOIN lane l ON l.id = r.lane_id "
      "WHERE u.project_id = ?1 AND u.idempotency_key = ?2",
      project, head.idempotency_key);
  if (!query.next()) return std::nullopt;
  KeyUse before;
  query.read(before.run, before.sha256, before.commit, before.workload, before.rank);
  return before;
}

Result<void> SqliteStore::check_run(const RunHead& head, const Upload& upload) {
  return database_->read([&](Connection& connection) -> Result<void> {
    const auto project = project_number(connection, head.project);
    const auto before = project ? key_use(connection, *project, head) : std::nullopt;
    const auto run = run_of_group(connection, head.project, head.group);
    return check_coming(before, run ? &run->record : nullptr, head, upload);
  });
}

Result<RunStatus> SqliteStore::settle_upload(const UploadResult& result) {
  return database_->write([&](Connection& connection) -> Result<RunStatus> {
    auto run = run_of(connection, result.run);
    if (!run) return fail(ErrorCode::not_found, "run " + result.run + ": no such run");
    const Upload* upload = settle(run->record, result);
    if (upload == nullptr) return run->record.status;
    TRACEWEIR_TRY_VOID(finish_job(connection, run->seq, upload->rank, result.holder));
    write(connection, run->seq, *upload);
    return go_on(connection, *run);
  });
}

Result<RunStatus> SqliteStore::close_run(std::string_view project, std::string_view id) {
  return database_->write([&](Connection& connection) -> Result<RunStatus> {
    auto run = run_with_id(connection, project, id);
    if (!run) return fail(ErrorCode::not_found, "run " + std::string(id) + ": no such run");
    if (run->record.status == RunStatus::pending) {
      connection.execute("UPDATE run SET closed = 1 WHERE seq = ?1", run->seq);
      run->record.closed = true;
    }
    return go_on(connection, *run);
  });
}

}  // namespace traceweir::store
