// For: what the service remembers, as verbs of the domain. One interface, one implementation per database; the contract
// suite (tests/contract) runs on each. Not for: SQL outside the *_store.cpp files, JSON, or any decision.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "gate/verdict.hpp"
#include "server/store/jobs.hpp"
#include "server/store/keeping.hpp"
#include "server/store/levels.hpp"
#include "server/store/timestamp.hpp"
#include "server/store/token.hpp"

namespace traceweir::store {

enum class Mode { gate, observe };
enum class PolicySource { repository, server };
enum class ReadAccess { token, everyone };
enum class RunStatus { pending, analysing, judged, rejected };
/// received: waits for its own analysis; whole: holds its ranks; rejected: its slot is free for another try.
enum class UploadStatus { received, whole, rejected };
std::string_view word(Mode mode);
std::optional<Mode> mode_of(std::string_view word);
std::string_view word(PolicySource source);
std::optional<PolicySource> policy_source_of(std::string_view word);
std::string_view word(ReadAccess access);  // "token", "public"
std::optional<ReadAccess> read_access_of(std::string_view word);
std::string_view word(RunStatus status);
std::optional<RunStatus> run_status_of(std::string_view word);
std::string_view word(UploadStatus status);
std::optional<UploadStatus> upload_status_of(std::string_view word);

struct Project {
  std::string name;
  Mode mode = Mode::gate;
  PolicySource policy_source = PolicySource::repository;
  ReadAccess read_access = ReadAccess::token;
  std::string policy;  ///< TOML kept on the server; empty: none
  Timestamp created_at{};
  std::string trusted_jobs{};  ///< JSON: whose CI jobs may get a token by OIDC; empty: nobody's
  Keeping keeping{};
};

/// A commit of the project's graph.
struct Commit {
  std::string sha;
  std::vector<std::string> parents;
  std::optional<Timestamp> committed_at;
  std::string subject, author;
};

/// Everything that an upload says of its run. Texts are already cleaned and limited.
struct RunHead {
  std::string id;  ///< UUIDv7, made by the service
  std::string project, workload, commit;
  std::string branch, base_branch, head, base;  ///< empty: not stated
  std::optional<std::int64_t> pull_request;
  bool fork = false;
  std::int64_t attempt = 1;
  std::string ci_run, job, matrix, job_url, run_key;
  std::string idempotency_key;      ///< empty: none
  std::int64_t ranks_expected = 0;  ///< 0: what was sent
  std::string group;                ///< what makes uploads one run (run_group.hpp); empty: one of its own
  std::map<std::string, std::string> environment;  ///< env.* of the upload
  std::string steps_glob, window;                  ///< how to read the trace; empty: the rule
  std::optional<std::int64_t> skip_steps;
  std::string policy;  ///< TOML sent with the upload; empty: none
  std::string token;   ///< id of the uploader's token
  Timestamp received_at{};
};

/// One uploaded file of a run. It fills the slots rank … rank + ranks - 1.
struct Upload {
  std::int64_t rank = 0;
  std::string sha256;  ///< names the blob
  std::int64_t bytes = 0;
  std::string name;
  UploadStatus status = UploadStatus::whole;
  std::int64_t ranks = 0;                     ///< that the file holds; 0: not known
  std::string error_code{}, error_message{};  ///< of a rejected upload
  std::vector<std::int64_t> stated{};         ///< the ranks that its traces state themselves
  std::optional<Timestamp> removed_at{};      ///< the trace is no longer kept
  std::string removed_why{};
};

struct Begun {
  std::string run;
  enum class State { created, joined, seen_before } state;
};

/// What the analysis of one upload of a run of several said.
struct UploadResult {
  std::string run;
  std::int64_t rank = 0;
  std::string sha256;                         ///< of the try that was analysed
  std::int64_t ranks = 0;                     ///< that the file holds; 0: it is rejected
  std::string error_code{}, error_message{};  ///< of a rejected one
  std::vector<std::int64_t> stated{};         ///< the ranks that its traces state themselves
  std::string holder{};                       ///< the claim that it was found in; empty: the job is in none
};

/// The result of a run, written in one transaction.
struct RunResult {
  std::string run;
  RunStatus status = RunStatus::judged;
  std::optional<gate::Outcome> outcome;  ///< of a judged run
  std::string report_json, verdict_json;
  std::string error_code, error_message;  ///< of a rejected run
  std::string comparable_key;  ///< runs with the same key are comparable (environment class, window kind, …)
  bool in_baseline = false;    ///< may serve as a baseline of its branch
  bool in_series = false;      ///< a whole run of its baseline branch, failed or not: changes are sought among these
  std::vector<std::pair<std::string, double>> values;  ///< measured metrics of the run
  Timestamp finished_at{};
  std::map<std::string, gate::NoiseBand> bands{};  ///< of the values that were compared with a baseline
  std::vector<std::string> leans_on{};             ///< ids of the acceptances without which it would not be in_baseline
  std::string holder{};                            ///< the claim that it was found in; empty: the job is in none
  std::optional<std::int64_t> beside{};  ///< judged runs of its workload and commit that the verdict knows; empty: any
};

/// What of a run's documents is read with it. They are most of its bytes.
enum class Documents { none, verdict, all };

struct RunRecord {
  RunHead head;
  std::vector<Upload> uploads;
  RunStatus status = RunStatus::analysing;
  std::optional<gate::Outcome> outcome;
  std::string comparable_key;
  bool in_baseline = false;
  std::string report_json, verdict_json;  ///< those that were asked for (Documents); without a result: neither
  std::string error_code, error_message;
  std::optional<Timestamp> finished_at;
  bool superseded = false;                ///< a later attempt of the same CI job was judged
  bool closed = false;                    ///< no further rank is waited for
  std::vector<Acceptance> acceptances{};  ///< newest first, undone ones too; read of one run only
};

// The questions below have an initialiser for each field, so that `{.project = …}` compiles without warnings.

/// Empty fields do not filter. Pages go from new to old; `before` is the id of the last run of the page before.
struct RunFilter {
  std::string project{};
  std::string branch{}, commit{}, workload{};
  std::optional<gate::Outcome> outcome{};
  std::optional<Timestamp> since{}, until{};
  std::string before{};
  std::int64_t limit = 50;
  std::string commit_prefix{};  ///< the first hex digits of a commit's id
  std::string environment{};    ///< a comparable key
};

/// What counts only because of an acceptance: as long as that is in force, or not at all.
enum class Leaning { while_in_force, never };

/// Which runs may serve as baseline of a run.
struct BaselineQuery {
  std::string project{}, workload{}, branch{}, comparable_key{};
  std::string not_commit{};            ///< the run's own commit
  std::string before_run{};            ///< only runs received before this one
  std::vector<std::string> commits{};  ///< only runs of these commits, nearest first; empty: any commit
  std::int64_t limit = 100;
  std::vector<std::string> metrics{};  ///< only their values; empty: those of all
  std::optional<Timestamp> since{};    ///< nothing of older commits, or received before where that is not known
  Timestamp now{};                     ///< acceptances that ended before are not in force
  Leaning leaning = Leaning::while_in_force;
};
struct BaselineRow {
  std::string run, commit;
  std::map<std::string, double> values;
  Timestamp received_at{};
};

struct HistoryQuery {
  std::string project{}, workload{}, branch{}, metric{};  ///< branch empty: all branches
  std::int64_t limit = 10'000;
  std::string environment{};  ///< a comparable key; empty: all
  Timestamp now{};            ///< acceptances that ended before are not in force
};
struct HistoryPoint {
  std::string run, commit, branch, comparable_key;
  std::optional<Timestamp> committed_at;
  Timestamp uploaded_at{};
  double value = 0;
  std::optional<gate::Outcome> outcome;
  std::string subject, author;  ///< of the commit; empty where it was never put
  bool superseded = false, in_baseline = false;
  bool accepted = false;  ///< by an acceptance of this metric that is in force
  std::optional<gate::NoiseBand> band;
};

/// A change that must be traceable: policy, project, token, acceptance, deletion.
struct AuditEntry {
  Timestamp at{};
  std::string project, actor, action, detail;
};

/// Errors: every verb may answer store_unavailable (the database cannot be reached or is busy) or disk_full; nothing of
///         that call was then written. Further errors are named at the verb.
/// Thread: safe from any thread; calls block.
class Store {
 public:
  virtual ~Store() = default;

  /// Cheap question to the database. Errors: store_unavailable, with the reason.
  virtual Result<void> ready() = 0;

  // projects and tokens
  /// Errors: none of its own.
  virtual Result<std::optional<Project>> project(std::string_view name) = 0;
  /// Errors: none of its own.
  virtual Result<std::vector<Project>> projects() = 0;
  /// Creates or changes (created_at stays), with the audit entry in one transaction. Errors: none of its own.
  virtual Result<void> put_project(const Project& project, const AuditEntry& audit) = 0;
  /// Errors: none of its own.
  virtual Result<std::optional<Token>> token(std::string_view id) = 0;
  /// Errors: none of its own.
  virtual Result<std::vector<Token>> tokens() = 0;
  /// Adds a token for the whole service with the scope admin, unless there ever was one; tells whether it did. Of
  /// several at once, one does. Errors: conflict (the id exists).
  virtual Result<bool> add_first_administrator(const Token& token, const AuditEntry& audit) = 0;
  /// Errors: conflict (the id exists), not_found (no such project).
  virtual Result<void> add_token(const Token& token, const AuditEntry& audit) = 0;
  /// A token that was revoked before keeps its time. Errors: not_found.
  virtual Result<void> revoke_token(std::string_view id, Timestamp at, const AuditEntry& audit) = 0;

  /// The token ends at `expires_at`, or before, as it would have; another one has taken its place.
  /// Errors: not_found, conflict (one has before).
  virtual Result<void> replace_token(std::string_view id, std::string_view successor, Timestamp expires_at,
                                     const AuditEntry& audit) = 0;
  /// Keeps the latest time. An unknown id is fine. Errors: none of its own.
  virtual Result<void> note_token_use(std::string_view id, Timestamp at) = 0;
  /// Forgets tokens with a binding that ended before; tells how many. Errors: none of its own.
  virtual Result<std::int64_t> remove_issued_tokens(Timestamp ended_before) = 0;

  // policies sent for later uploads
  /// Keeps a policy text under its SHA-256 (64 lower-case hex digits) for later uploads of the project; again is fine.
  /// Errors: not_found (no such project), hash_mismatch (the hash is not that of the text).
  virtual Result<void> put_policy(std::string_view project, std::string_view sha256, std::string_view toml,
                                  Timestamp at) = 0;
  /// A text that this project put; those of other projects are not seen. Errors: none of its own.
  virtual Result<std::optional<std::string>> policy(std::string_view project, std::string_view sha256) = 0;

  // commits
  /// Adds commits or fills in what was unknown of them (a known field is never emptied or changed). All or none.
  /// Errors: not_found (no such project).
  virtual Result<void> put_commits(std::string_view project, std::span<const Commit> commits) = 0;
  /// The same by the word of a job that measures a change, which stands until put_commits() names the commit: then
  /// nothing of it stays. A commit that put_commits() named before stays as it is.
  /// Errors: not_found (no such project).
  virtual Result<void> propose_commits(std::string_view project, std::span<const Commit> commits) = 0;
  /// Errors: none of its own.
  virtual Result<std::optional<Commit>> commit(std::string_view project, std::string_view sha) = 0;
  /// `sha` and its first-parent ancestors as far as they are known, nearest first, at most `limit`, each once; empty
  /// where put_commits never had `sha`. Errors: none of its own.
  virtual Result<std::vector<std::string>> first_parents(std::string_view project, std::string_view sha,
                                                         std::int64_t limit) = 0;

  // runs
  /// Records an upload before its analysis, and the job of that in the same transaction, `claim`ed at once where it
  /// says so. Without a group it makes a run of its own, `analysing`. With one, the first upload makes a run that is
  /// `pending`, and the others join it, each `received`; a rejected try of the same slot is replaced. With an
  /// idempotency key that the project has seen, or as the same rank with the same content: `seen_before` and the first
  /// run's id, nothing is written. Errors: key_reused (the same key with another body or rank), not_found (no such
  /// project), conflict (the run's id exists; what joining_of() says), bad_query (what joining_of() says).
  virtual Result<Begun> begin_run(const RunHead& head, const Upload& upload, const Claim& claim) = 0;
  /// The same; whoever is free first may claim the job. Errors: as above.
  Result<Begun> begin_run(const RunHead& head, const Upload& upload) { return begin_run(head, upload, {}); }
  /// What begin_run() would refuse as things are now, so that a file that is not wanted need not be kept before its
  /// row. Errors: key_reused, conflict, bad_query, as begin_run().
  virtual Result<void> check_run(const RunHead& head, const Upload& upload) = 0;
  /// Writes what the analysis of a `received` upload said, and tells how its run stands then. An upload whose slots are
  /// not free, or not expected, becomes rejected with that reason. Its job is done by that. A pending run that is
  /// complete by this becomes `analysing` and gets a job, once. An upload that is not `received` with this content
  /// (settled before) stays as it is. Errors: not_found, conflict (the job is in another claim).
  virtual Result<RunStatus> settle_upload(const UploadResult& result) = 0;
  /// No further rank is waited for. A pending run without an upload that is being analysed becomes `analysing` and gets
  /// a job; others stay as they are. Tells how the run stands then. Errors: not_found.
  virtual Result<RunStatus> close_run(std::string_view project, std::string_view id) = 0;
  /// Writes the result of a run that is pending or analysing; its jobs are done by that. A judged run supersedes those
  /// with a lower attempt of the same workload and commit and the same run_key (where stated), or the same ci_run
  /// (where stated), job and matrix, in whatever order they are finished; a superseded run is in no baseline. Of runs
  /// of a commit that are judged at the same time one is finished first; the others did not know it (`beside`) and are
  /// refused, to be judged again. Errors: not_found, conflict (the run has a result; another run of its commit got one
  /// meanwhile; its job is in another claim: whoever lost a claim writes nothing).
  virtual Result<void> finish_run(const RunResult& result) = 0;
  /// Errors: none of its own.
  virtual Result<std::optional<RunRecord>> run(std::string_view project, std::string_view id) = 0;
  /// With their verdicts, without their reports. In order of receipt, newest first; `since` and `until` are inclusive.
  /// Errors: bad_query (`before` is no run of the project).
  virtual Result<std::vector<RunRecord>> runs(const RunFilter& filter) = 0;
  /// All runs of a commit with these documents, oldest first; workload empty: of all. Errors: none of its own.
  virtual Result<std::vector<RunRecord>> runs_of_commit(std::string_view project, std::string_view workload,
                                                        std::string_view commit, Documents documents) = 0;
  /// Runs that have no result: they wait for their analysis or for ranks. Errors: none of its own.
  virtual Result<std::vector<RunRecord>> unfinished_runs() = 0;

  // jobs: leases and pauses are counted by the database's clock
  /// Claims the oldest job that is in no claim that lasts and has no pause; of several at once, each gets another one.
  /// Nothing: there is none. Errors: none of its own.
  virtual Result<std::optional<Job>> claim_job(const Claim& claim) = 0;
  /// Lets these claims last `lease` from now on. Returns those that are still there, as long as nobody else has the
  /// job. Errors: none of its own.
  virtual Result<std::vector<std::string>> renew_claims(std::span<const std::string> holders,
                                                        std::chrono::milliseconds lease) = 0;
  /// Ends a claim without a result; one that is not there any more is fine. Errors: none of its own.
  virtual Result<void> release_job(const Release& release) = 0;
  /// All jobs, in the order in which they are taken, at most listed_jobs_max. Errors: none of its own.
  virtual Result<std::vector<Job>> jobs() = 0;
  /// While it lives, `on_ring` is called on a thread of its own when another process on this store rings.
  virtual std::unique_ptr<Bell> bell(std::function<void()> on_ring) = 0;

  // baseline and history
  /// With `commits`: in their order, and the newest received first of each; so `limit` keeps the runs of the nearest
  /// commits, whenever they were received. Without: the newest received first. Errors: none of its own. Cost:
  /// independent of the number of runs outside the answer (and linear in `commits`).
  virtual Result<std::vector<BaselineRow>> baseline(const BaselineQuery& query) = 0;
  /// How many baseline runs of the branch have another comparable key: `not_commit` and `before_run` count, `commits`
  /// and `limit` do not. Errors: none of its own.
  virtual Result<std::int64_t> other_class_runs(const BaselineQuery& query) = 0;
  /// The newest `limit` points by receipt, in commit order, oldest first: a point comes after those of its first-parent
  /// ancestors; where the commit graph does not tell, the order of receipt stays. Errors: none of its own.
  /// Cost: follows the answer, not the number of runs or commits.
  virtual Result<std::vector<HistoryPoint>> history(const HistoryQuery& query) = 0;
  /// The stored levels of the metric, on the branches and in the classes of the query. Errors: none of its own.
  virtual Result<Levels> levels(const HistoryQuery& query) = 0;
  /// The newest `limit` comparable runs of a branch by receipt, in commit order, with their values. Without any it is
  /// empty. Errors: none of its own. Cost: linear in the answer.
  virtual Result<Series> series(const SeriesQuery& query) = 0;
  /// Puts what was found in a series in the place of what is stored of these metrics, and the verdict of the run that
  /// revealed it. Errors: conflict (the series changed since it was read: read it again).
  virtual Result<void> put_levels(const SeriesLevels& levels) = 0;

  // acceptances
  /// Errors: not_found (no such judged run; a metric that no run measures).
  virtual Result<void> accept(const Acceptance& acceptance, const AuditEntry& audit) = 0;
  /// Undoes everything that is accepted of a run; they stay in the list. Tells how many there were. Errors: not_found
  /// (nothing).
  virtual Result<std::int64_t> undo_acceptances(const Undoing& undoing, const AuditEntry& audit) = 0;
  /// Newest first, also those that were undone. Errors: none of its own.
  virtual Result<std::vector<Acceptance>> acceptances(const AcceptanceFilter& filter) = 0;
  /// Changes which runs are in the baseline; all or none. A superseded run stays out. Errors: not_found (a run that is
  /// not judged, an acceptance).
  virtual Result<void> put_memberships(std::span<const Membership> memberships) = 0;

  // retention, quota, deletion
  /// What is kept of the project, and what came since. Errors: none of its own. Cost: linear in its uploads.
  virtual Result<Usage> usage(const UsageQuery& query) = 0;
  /// Oldest first. Errors: none of its own.
  virtual Result<std::vector<KeptTrace>> removable_traces(const TraceQuery& query) = 0;
  /// Notes that the trace is no longer kept, if it still may be removed; whether it was. Its blob is the caller's to
  /// remove, after this. Errors: none of its own.
  virtual Result<bool> remove_trace(const TraceRemoval& removal) = 0;
  /// Removes the run with all that is of it. One that was deleted with the same audit entry before is no error.
  /// Errors: not_found.
  virtual Result<Deleted> delete_run(std::string_view project, std::string_view id, const AuditEntry& audit) = 0;
  /// Removes up to `runs_max` runs of the project, the oldest first; where fewer are left, all of the project. One that
  /// was deleted with the same audit entry before is no error. Errors: not_found.
  virtual Result<Deleted> delete_project(std::string_view name, std::int64_t runs_max, const AuditEntry& audit) = 0;
  /// Removes the measurements of runs that were received before; the runs stay. Cost: on Postgres whole months are
  /// dropped, and only the rest is deleted row by row. Errors: none of its own.
  virtual Result<void> drop_measurements_before(Timestamp time) = 0;

  // the rest
  /// The newest `limit` entries, newest first; project empty: of all. Errors: none of its own.
  virtual Result<std::vector<AuditEntry>> audit(std::string_view project, std::int64_t limit) = 0;
  /// Whether any upload whose trace is kept refers to this blob. Errors: none of its own.
  virtual Result<bool> blob_in_use(std::string_view sha256) = 0;
  /// The store's own name, or `if_none` becomes it. Copies of a store have the same. Errors: none of its own.
  virtual Result<std::string> identity(std::string_view if_none) = 0;
  /// SHA-256 of the newest upload whose trace is kept. Errors: none of its own.
  virtual Result<std::optional<std::string>> newest_blob() = 0;
};

/// A service excludes other services from an embedded store, and ends what claims of an earlier one were left; commands
/// (`token create`) open it beside a running one. On Postgres any number of services work on one database.
enum class Opening { service, beside_service };

/// Whether several services may work on the store of this URL.
bool is_shared(std::string_view url);

/// Opens `sqlite:PATH` or `postgresql://USER@HOST/DATABASE` and brings its schema up to date. `:memory:` is refused: a
/// store that forgets is none. No message has a password of the URL in it.
/// Errors: bad_config (a URL of no store that we know, named), store_unavailable (cannot be opened or reached, is used
///         by another service, or has a newer schema than this program).
Result<std::unique_ptr<Store>> open_store(std::string_view url, Opening opening);

/// `url` as it may be printed: *** in place of a password.
std::string shown_url(std::string_view url);

}  // namespace traceweir::store
