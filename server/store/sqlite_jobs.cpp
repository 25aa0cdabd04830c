#include "server/store/sqlite_store.hpp"
#include "server/store/strikes.hpp"

namespace traceweir::store {
namespace {

/// µs by the clock of this one process, which nobody sets and a machine that sleeps stops: leases and pauses are told
/// by it, and end with the process (end_all_claims).
std::int64_t steady_us() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// µs since 1970 by the clock of the database.
constexpr std::string_view now_us = "CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)";

constexpr std::string_view select_jobs =
    "SELECT p.name, r.id, j.rank, j.holder, j.attempts FROM analysis_job j JOIN run r ON r.seq = j.run_seq "
    "JOIN project p ON p.id = r.project_id";

std::int64_t microseconds(std::chrono::milliseconds time) { return std::chrono::microseconds(time).count(); }

Job job_of(Query& row) {
  Job job;
  std::int64_t rank = 0;
  row.read(job.project, job.run, rank, job.holder, job.attempts);
  if (rank >= 0) job.rank = rank;
  return job;
}

/// There is no other process that could be told anything.
class SilentBell final : public Bell {
 public:
  void ring() override {}
};

}  // namespace

Result<std::optional<Job>> SqliteStore::claim_job(const Claim& claim) {
  constexpr std::string_view update =
      "UPDATE analysis_job SET holder = ?1, free_us = ?3 + ?2, attempts = attempts + 1 WHERE seq = (SELECT seq FROM "
      "analysis_job WHERE free_us <= ?3 ORDER BY seq LIMIT 1)";
  static const std::string select = std::string(select_jobs) + " WHERE j.holder = ?1";
  return database_->write([&](Connection& connection) -> Result<std::optional<Job>> {
    if (connection.execute(update, claim.holder, microseconds(claim.lease), steady_us()) == 0) return std::nullopt;
    Query row = connection.query(select, claim.holder);
    row.next();
    return job_of(row);
  });
}

Result<std::vector<std::string>> SqliteStore::renew_claims(std::span<const std::string> holders,
                                                           std::chrono::milliseconds lease) {
  constexpr std::string_view sql = "UPDATE analysis_job SET free_us = ?2 WHERE holder = ?1 AND holder <> ''";
  return database_->write([&](Connection& connection) -> Result<std::vector<std::string>> {
    std::vector<std::string> held;
    for (const std::string& holder : holders)
      if (connection.execute(sql, holder, steady_us() + microseconds(lease)) > 0) held.push_back(holder);
    return held;
  });
}

Result<void> SqliteStore::release_job(const Release& release) {
  constexpr std::string_view sql =
      "UPDATE analysis_job SET holder = '', free_us = ?2, attempts = attempts + ?3 WHERE holder = ?1 AND holder <> ''";
  return database_->write([&](Connection& connection) -> Result<void> {
    const bool failed = release.attempt == Release::Attempt::failed;
    const std::int64_t more = (failed ? strikes_of_a_failure : 0) - strikes_of_an_end;  // which the claim began with
    connection.execute(sql, release.holder, steady_us() + microseconds(release.pause), more);
    return {};
  });
}

Result<std::vector<Job>> SqliteStore::jobs() {
  static const std::string sql = std::string(select_jobs) + " ORDER BY j.seq LIMIT ?1";
  return database_->read([](Connection& connection) -> Result<std::vector<Job>> {
    std::vector<Job> jobs;
    Query row = connection.query(sql, listed_jobs_max);
    while (row.next()) jobs.push_back(job_of(row));
    return jobs;
  });
}

std::unique_ptr<Bell> SqliteStore::bell(std::function<void()>) { return std::make_unique<SilentBell>(); }

Result<void> SqliteStore::end_all_claims() {
  static const std::string sql =
      "UPDATE analysis_job SET holder = '', free_us = 0, attempts = attempts - iif(holder <> '' AND (SELECT "
      "received_us "
      "FROM run WHERE seq = run_seq) > " +
      std::string(now_us) + " - ?1, ?2, 0) WHERE holder <> '' OR free_us <> 0";
  return database_->write([](Connection& connection) -> Result<void> {
    connection.execute(sql, microseconds(innocence), strikes_of_an_end);
    return {};
  });
}

void add_job(Connection& connection, std::int64_t run, std::int64_t rank, const Claim& claim) {
  constexpr std::string_view sql =
      "INSERT INTO analysis_job (run_seq, rank, holder, free_us, attempts) VALUES (?1, ?2, ?3, iif(?3 = '', 0, ?4), "
      "?3 <> '')";
  connection.execute(sql, run, rank, claim.holder, steady_us() + microseconds(claim.lease));
}

Result<void> finish_job(Connection& connection, std::int64_t run, std::int64_t rank, std::string_view holder) {
  const auto deleted = connection.execute("DELETE FROM analysis_job WHERE run_seq = ?1 AND rank = ?2 AND holder = ?3",
                                          run, rank, holder);
  if (deleted == 0) return fail(ErrorCode::conflict, "the job is in another claim");
  return {};
}

}  // namespace traceweir::store
