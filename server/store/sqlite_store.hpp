// For: the Store on one SQLite file: one host, one service. Not for: connections and transactions
// (sqlite_database.hpp). The verbs are in sqlite_store.cpp (projects, tokens, commits, audit), sqlite_runs.cpp,
// sqlite_uploads.cpp (runs of several uploads), sqlite_jobs.cpp, sqlite_series.cpp (baseline, history),
// sqlite_levels.cpp and sqlite_tables.cpp (whole tables); no other file of the service sees SQL of SQLite.
#pragma once

#include <set>

#include <sqlite3.h>

#include "server/store/sqlite_database.hpp"
#include "server/store/store.hpp"

namespace traceweir::store {

/// Opens the store in the file `path`. Errors: bad_config (an empty path, `:memory:`), store_unavailable.
Result<std::unique_ptr<Store>> open_sqlite_store(std::string_view path, Opening opening);

/// What each verb promises: store.hpp.
class SqliteStore final : public Store {
 public:
  explicit SqliteStore(std::unique_ptr<SqliteDatabase> database) : database_(std::move(database)) {}

  Result<void> ready() override { return database_->ready(); }

  Result<std::optional<Project>> project(std::string_view name) override;
  Result<std::vector<Project>> projects() override;
  Result<void> put_project(const Project& project, const AuditEntry& audit) override;
  Result<std::optional<Token>> token(std::string_view id) override;
  Result<std::vector<Token>> tokens() override;
  Result<bool> add_first_administrator(const Token& token, const AuditEntry& audit) override;
  Result<void> add_token(const Token& token, const AuditEntry& audit) override;
  Result<void> revoke_token(std::string_view id, Timestamp at, const AuditEntry& audit) override;
  Result<void> replace_token(std::string_view id, std::string_view successor, Timestamp expires_at,
                             const AuditEntry& audit) override;
  Result<void> note_token_use(std::string_view id, Timestamp at) override;
  Result<std::int64_t> remove_issued_tokens(Timestamp ended_before) override;

  Result<void> put_policy(std::string_view project, std::string_view sha256, std::string_view toml,
                          Timestamp at) override;
  Result<std::optional<std::string>> policy(std::string_view project, std::string_view sha256) override;

  Result<void> put_commits(std::string_view project, std::span<const Commit> commits) override;
  Result<void> propose_commits(std::string_view project, std::span<const Commit> commits) override;
  Result<std::optional<Commit>> commit(std::string_view project, std::string_view sha) override;
  Result<std::vector<std::string>> first_parents(std::string_view project, std::string_view sha,
                                                 std::int64_t limit) override;

  using Store::begin_run;
  Result<Begun> begin_run(const RunHead& head, const Upload& upload, const Claim& claim) override;
  Result<void> check_run(const RunHead& head, const Upload& upload) override;
  Result<RunStatus> settle_upload(const UploadResult& result) override;
  Result<RunStatus> close_run(std::string_view project, std::string_view id) override;
  Result<void> finish_run(const RunResult& result) override;
  Result<std::optional<RunRecord>> run(std::string_view project, std::string_view id) override;
  Result<std::vector<RunRecord>> runs(const RunFilter& filter) override;
  Result<std::vector<RunRecord>> runs_of_commit(std::string_view project, std::string_view workload,
                                                std::string_view commit, Documents documents) override;
  Result<std::vector<RunRecord>> unfinished_runs() override;

  Result<std::optional<Job>> claim_job(const Claim& claim) override;
  Result<std::vector<std::string>> renew_claims(std::span<const std::string> holders,
                                                std::chrono::milliseconds lease) override;
  Result<void> release_job(const Release& release) override;
  Result<std::vector<Job>> jobs() override;
  std::unique_ptr<Bell> bell(std::function<void()> on_ring) override;

  Result<std::vector<BaselineRow>> baseline(const BaselineQuery& query) override;
  Result<std::int64_t> other_class_runs(const BaselineQuery& query) override;
  Result<std::vector<HistoryPoint>> history(const HistoryQuery& query) override;
  Result<Levels> levels(const HistoryQuery& query) override;
  Result<Series> series(const SeriesQuery& query) override;
  Result<void> put_levels(const SeriesLevels& levels) override;

  Result<void> accept(const Acceptance& acceptance, const AuditEntry& audit) override;
  Result<std::int64_t> undo_acceptances(const Undoing& undoing, const AuditEntry& audit) override;
  Result<std::vector<Acceptance>> acceptances(const AcceptanceFilter& filter) override;
  Result<void> put_memberships(std::span<const Membership> memberships) override;

  Result<Usage> usage(const UsageQuery& query) override;
  Result<std::vector<KeptTrace>> removable_traces(const TraceQuery& query) override;
  Result<bool> remove_trace(const TraceRemoval& removal) override;
  Result<Deleted> delete_run(std::string_view project, std::string_view id, const AuditEntry& audit) override;
  Result<Deleted> delete_project(std::string_view name, std::int64_t runs_max, const AuditEntry& audit) override;

  Result<std::vector<AuditEntry>> audit(std::string_view project, std::int64_t limit) override;
  Result<void> drop_measurements_before(Timestamp time) override;
  Result<bool> blob_in_use(std::string_view sha256) override;
  Result<std::string> identity(std::string_view if_none) override;
  Result<std::optional<std::string>> newest_blob() override;

  /// For a service that starts: whoever claimed jobs before is gone. Errors: none of its own.
  Result<void> end_all_claims();

 private:
  std::unique_ptr<SqliteDatabase> database_;
};

// Steps that several verbs share. All throw SQLite::Exception.

/// The value behind a stored word. The schema admits no other words, so one that we do not know is a damaged file.
template <typename T>
T known(const std::optional<T>& value) {
  if (!value) throw SQLite::Exception("a stored word is unknown: the file is damaged", SQLITE_CORRUPT);
  return *value;
}

/// A run with its uploads and its environment, without its documents.
struct StoredRun {
  std::int64_t seq = 0;
  RunRecord record;
};
std::optional<StoredRun> run_with_id(Connection& connection, std::string_view project, std::string_view id);
std::optional<StoredRun> run_of_group(Connection& connection, std::string_view project, std::string_view group);
struct KeyUse;  // run_group.hpp
/// What the project did with the idempotency key before.
std::optional<KeyUse> key_use(Connection& connection, std::int64_t project, const RunHead& head);

/// The row number of a project.
std::optional<std::int64_t> project_number(Connection& connection, std::string_view name);

/// The first parent of a commit, where it is known.
std::optional<std::string> first_parent(Connection& connection, std::int64_t project, std::string_view sha);

/// Keeps a policy text; returns its SHA-256 in hex, or nothing for the empty text.
std::optional<std::string> keep_policy(Connection& connection, std::string_view toml);

/// Writes an audit entry.
void note(Connection& connection, const AuditEntry& entry);

/// Commit order of entries that are given in order of receipt (commit_order.hpp).
std::vector<std::size_t> order_of(Connection& connection, std::int64_t project,
                                  const std::vector<std::string_view>& commits);

/// Row numbers of the project's runs that lean on an acceptance that is not in force at `now`.
std::set<std::int64_t> leaning_on_ended(Connection& connection, std::int64_t project, Timestamp now);

/// Notes the acceptances without which a run would not be in the baseline.
/// Errors: not_found.
Result<void> lean(Connection& connection, std::string_view run, const std::vector<std::string>& acceptances);

std::vector<Acceptance> acceptances_of(Connection& connection, const AcceptanceFilter& filter);

/// Makes or changes the series that a run is in, if it is in one.
void touch_series(Connection& connection, std::string_view run);
/// Runs of the commit that no judged attempt supersedes any more are superseded no more.
void restore_attempts(Connection& connection, std::string_view project, std::string_view commit);

void add_job(Connection& connection, std::int64_t run, std::int64_t rank, const Claim& claim);
/// Ends the job in this claim; empty: one that is in none. Errors: conflict: there is no such job.
Result<void> finish_job(Connection& connection, std::int64_t run, std::int64_t rank, std::string_view holder);

}  // namespace traceweir::store
