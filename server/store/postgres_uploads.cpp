#include "server/store/postgres_store.hpp"
#include "server/store/run_group.hpp"

namespace traceweir::store {
namespace {

void write(PostgresConnection& connection, std::int64_t run, const Upload& upload) {
  connection.execute(
      "UPDATE upload SET status = $3, ranks = $4::bigint, error_code = $5, error_message = $6, stated_ranks = $7 "
      "WHERE run_seq = $1 AND rank = $2",
      run, upload.rank, word(upload.status), upload.ranks, upload.error_code, upload.error_message,
      text_of_ranks(upload.stated));
}

/// Lets a pending run that waits for nothing more go on. Tells how it stands. Its row is locked.
RunStatus go_on(PostgresConnection& connection, const LockedRun& run) {
  if (run.record.status != RunStatus::pending || !is_complete(run.record)) return run.record.status;
  connection.execute("UPDATE run SET status = 'analysing' WHERE seq = $1 AND status = 'pending'", run.seq);
  add_job(connection, run.seq, whole_run, {});
  return RunStatus::analysing;
}

}  // namespace

Result<RunStatus> PostgresStore::settle_upload(const UploadResult& result) {
  return database_->write([&](PostgresConnection& connection) -> Result<RunStatus> {
    auto run = lock_run(connection, "", result.run);
    if (!run) return fail(ErrorCode::not_found, "run " + result.run + ": no such run");
    const Upload* upload = settle(run->record, result);
    if (upload == nullptr) return run->record.status;
    TRACEWEIR_TRY_VOID(finish_job(connection, run->seq, upload->rank, result.holder));
    write(connection, run->seq, *upload);
    return go_on(connection, *run);
  });
}

Result<RunStatus> PostgresStore::close_run(std::string_view project, std::string_view id) {
  return database_->write([&](PostgresConnection& connection) -> Result<RunStatus> {
    auto run = project.empty() ? std::nullopt : lock_run(connection, project, id);
    if (!run) return fail(ErrorCode::not_found, "run " + std::string(id) + ": no such run");
    if (run->record.status == RunStatus::pending) {
      connection.execute("UPDATE run SET closed = TRUE WHERE seq = $1", run->seq);
      run->record.closed = true;
    }
    return go_on(connection, *run);
  });
}

}  // namespace traceweir::store
