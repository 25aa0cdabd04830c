// For: the Store on one Postgres database. Not for: connections and transactions (postgres_database.hpp). The verbs are
// in postgres_store.cpp (projects, tokens, audit), postgres_commits.cpp, postgres_runs.cpp, postgres_uploads.cpp,
// postgres_read_runs.cpp, postgres_jobs.cpp, postgres_series.cpp (baseline, history), postgres_levels.cpp,
// postgres_months.cpp (retention of measurements) and postgres_tables.cpp (whole tables); no other file of the service
// sees SQL of Postgres.
#pragma once

#include <set>

#include "server/store/known_names.hpp"
#include "server/store/known_values.hpp"
#include "server/store/postgres_database.hpp"
#include "server/store/store.hpp"

namespace traceweir::store {

/// Opens the store of `postgresql://REST`. Errors: bad_config (a URL whose parts could be mistaken), store_unavailable.
Result<std::unique_ptr<Store>> open_postgres_store(std::string_view rest, Opening opening);  // any number of services

/// What each verb promises: store.hpp. Texts that Postgres cannot hold (a zero byte, broken UTF-8) are refused with
/// bad_query when they are to be written; nothing is found under them.
class PostgresStore final : public Store {
 public:
  explicit PostgresStore(std::unique_ptr<PostgresDatabase> database) : database_(std::move(database)) {}

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

 private:
  std::unique_ptr<PostgresDatabase> database_;
  KnownNames known_metrics_;
  KnownValues known_values_;
};

// Steps that several verbs share. All throw PostgresFailure.

/// The value behind a stored word. The schema admits no other words, so one that we do not know is damage.
template <typename T>
T stored_word(const std::optional<T>& value) {
  if (!value) throw PostgresFailure(PostgresFault::unavailable, "a stored word is unknown: the database is damaged");
  return *value;
}

/// Where the values of a table's runs lie: the runs' row numbers, in the table's order, and the times of receipt
/// between which all of them came: only their months are looked at.
struct ValuePlaces {
  std::vector<std::int64_t> seqs;
  Timestamp first{}, last{};
  std::optional<std::int64_t> lane{};  ///< of all of them
};
/// Fills the table, from what is known and else from the store.
void read_values(PostgresConnection& connection, const ValuePlaces& places, ValueTable& table, KnownValues& known);

/// A run whose row is locked until the transaction ends, without its documents.
struct LockedRun {
  std::int64_t seq = 0;
  RunRecord record;
};
/// Of the project, or (without) of any.
std::optional<LockedRun> lock_run(PostgresConnection& connection, std::string_view project, std::string_view id);
std::optional<LockedRun> lock_group(PostgresConnection& connection, std::string_view project, std::string_view group);
/// The run of a group as it is now, without its documents and without a lock.
std::optional<RunRecord> run_of_group(PostgresConnection& connection, std::string_view project, std::string_view group);

/// The row number of a project.
std::optional<std::int64_t> project_number(PostgresConnection& connection, std::string_view name);

/// The first parents of `sha` and its first-parent ancestors as (commit, parent), nearest first, at most `limit`.
std::vector<std::pair<std::string, std::string>> line_of(PostgresConnection& connection, std::int64_t project,
                                                         std::string_view sha, std::int64_t limit);

/// Writes an audit entry.
void note(PostgresConnection& connection, const AuditEntry& entry);

/// Commit order of entries that are given in order of receipt (commit_order.hpp).
std::vector<std::size_t> order_of(PostgresConnection& connection, std::int64_t project,
                                  const std::vector<std::string_view>& commits);

/// Row numbers of the project's runs that lean on an acceptance that is not in force at `now`.
std::set<std::int64_t> leaning_on_ended(PostgresConnection& connection, std::int64_t project, Timestamp now);

/// Notes the acceptances without which a run would not be in the baseline.
/// Errors: not_found.
Result<void> lean(PostgresConnection& connection, std::string_view run, const std::vector<std::string>& acceptances);

std::vector<Acceptance> acceptances_of(PostgresConnection& connection, const AcceptanceFilter& filter);

/// Makes or changes the series that a run is in, if it is in one.
void touch_series(PostgresConnection& connection, std::string_view run);
/// Runs of the commit that no judged attempt supersedes any more are superseded no more.
void restore_attempts(PostgresConnection& connection, std::string_view project, std::string_view commit);

/// Makes the months of measurements around this time: its own, and the next one ahead.
void make_months(PostgresConnection& connection, Timestamp time);

void add_job(PostgresConnection& connection, std::int64_t run, std::int64_t rank, const Claim& claim);
/// Ends the job in this claim; empty: one that is in none. Errors: conflict: there is no such job.
Result<void> finish_job(PostgresConnection& connection, std::int64_t run, std::int64_t rank, std::string_view holder);

}  // namespace traceweir::store
