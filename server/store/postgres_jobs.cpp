#include "server/store/postgres_bell.hpp"
#include "server/store/postgres_store.hpp"
#include "server/store/strikes.hpp"

namespace traceweir::store {
namespace {

/// µs since 1970 by the clock of the database, which all of its clients share.
constexpr std::string_view now_us = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

std::int64_t microseconds(std::chrono::milliseconds time) { return std::chrono::microseconds(time).count(); }

Job job_of(Rows& row) {
  Job job;
  std::int64_t rank = 0;
  row.read(job.project, job.run, rank, job.holder, job.attempts);
  if (rank >= 0) job.rank = rank;
  return job;
}

}  // namespace

Result<std::optional<Job>> PostgresStore::claim_job(const Claim& claim) {
  static const std::string sql =
      "WITH next AS (SELECT seq FROM analysis_job WHERE free_us <= " + std::string(now_us) +
      " ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE analysis_job j SET holder = $1, free_us = " +
      std::string(now_us) +
      " + $2::bigint, attempts = j.attempts + 1 FROM next, run r, project p WHERE j.seq = next.seq AND r.seq = "
      "j.run_seq "
      "AND p.id = r.project_id RETURNING p.name, r.id, j.rank, j.holder, j.attempts";
  return database_->change([&](PostgresConnection& connection) -> Result<std::optional<Job>> {
    Rows row = connection.query(sql, claim.holder, microseconds(claim.lease));
    if (!row.next()) return std::nullopt;
    return job_of(row);
  });
}

Result<std::vector<std::string>> PostgresStore::renew_claims(std::span<const std::string> holders,
                                                             std::chrono::milliseconds lease) {
  static const std::string sql = "UPDATE analysis_job SET free_us = " + std::string(now_us) +
                                 " + $2::bigint WHERE holder = ANY ($1::text[]) AND holder <> '' RETURNING holder";
  return database_->change([&](PostgresConnection& connection) -> Result<std::vector<std::string>> {
    std::vector<std::string> held;
    Rows row = connection.query(sql, std::vector<std::string>(holders.begin(), holders.end()), microseconds(lease));
    while (row.next()) row.read(held.emplace_back());
    return held;
  });
}

Result<void> PostgresStore::release_job(const Release& release) {
  static const std::string sql = "UPDATE analysis_job SET holder = '', free_us = " + std::string(now_us) +
                                 " + $2::bigint, attempts = attempts + $3::bigint WHERE holder = $1 AND holder <> ''";
  return database_->change([&](PostgresConnection& connection) -> Result<void> {
    const bool failed = release.attempt == Release::Attempt::failed;
    const std::int64_t more = (failed ? strikes_of_a_failure : 0) - strikes_of_an_end;  // which the claim began with
    connection.execute(sql, release.holder, microseconds(release.pause), more);
    return {};
  });
}

Result<std::vector<Job>> PostgresStore::jobs() {
  return database_->ask([](PostgresConnection& connection) -> Result<std::vector<Job>> {
    std::vector<Job> jobs;
    Rows row = connection.query(
        "SELECT p.name, r.id, j.rank, j.holder, j.attempts FROM analysis_job j JOIN run r ON r.seq = j.run_seq "
        "JOIN project p ON p.id = r.project_id ORDER BY j.seq LIMIT $1",
        listed_jobs_max);
    while (row.next()) jobs.push_back(job_of(row));
    return jobs;
  });
}

std::unique_ptr<Bell> PostgresStore::bell(std::function<void()> on_ring) {
  return std::make_unique<PostgresBell>(database_->address(), std::move(on_ring));
}

void add_job(PostgresConnection& connection, std::int64_t run, std::int64_t rank, const Claim& claim) {
  static const std::string sql =
      "INSERT INTO analysis_job (run_seq, rank, holder, free_us, attempts) VALUES ($1, $2, $3, CASE WHEN $3 = '' THEN "
      "0 "
      "ELSE " +
      std::string(now_us) + " + $4::bigint END, CASE WHEN $3 = '' THEN 0 ELSE 1 END)";
  connection.execute(sql, run, rank, claim.holder, microseconds(claim.lease));
}

Result<void> finish_job(PostgresConnection& connection, std::int64_t run, std::int64_t rank, std::string_view holder) {
  const auto deleted = connection.execute("DELETE FROM analysis_job WHERE run_seq = $1 AND rank = $2 AND holder = $3",
                                          run, rank, holder);
  if (deleted == 0) return fail(ErrorCode::conflict, "the job is in another claim");
  return {};
}

}  // namespace traceweir::store
