#include <algorithm>
#include <unordered_map>

#include "server/store/descendants.hpp"
#include "server/store/postgres_store.hpp"

namespace traceweir::store {
namespace {

/// The accepted levels, each under the number that its metric has since the run was judged.
Result<void> add_levels(PostgresConnection& connection, std::int64_t acceptance,
                        const std::map<std::string, double>& values) {
  std::vector<std::string> metrics;
  std::vector<double> levels;
  for (const auto& [metric, value] : values) {
    metrics.push_back(metric);
    levels.push_back(value);
  }
  const auto added = connection.execute(
      "INSERT INTO acceptance_metric (acceptance_seq, metric_id, value) SELECT $1::bigint, m.id, n.value "
      "FROM unnest($2::text[], $3::double precision[]) AS n (name, value) JOIN metric m ON m.name = n.name",
      acceptance, metrics, levels);
  if (added == std::ssize(metrics)) return {};
  return fail(ErrorCode::not_found, "metrics: one of them was measured by no run");
}

/// An acceptance speaks to every branch that has, or gets, its commit.
void touch_all_branches(PostgresConnection& connection, std::string_view run) {
  connection.execute(
      "UPDATE series SET version = version + 1 WHERE id IN (SELECT s.id FROM run r JOIN lane l ON l.id = r.lane_id "
      "JOIN lane k ON k.project_id = l.project_id AND k.workload = l.workload "
      "JOIN series s ON s.lane_id = k.id AND s.comparable_key = r.comparable_key WHERE r.id = $1 ORDER BY s.id "
      "FOR UPDATE OF s)",
      run);
}

std::string sql_of(const AcceptanceFilter& filter) {
  std::string sql =
      "SELECT a.seq, a.id, p.name, r.id, a.every_metric, a.reason, a.author, a.token_id, a.created_us, a.until_us, "
      "a.undone_us, a.undone_by, l.workload, l.branch, r.commit_sha, r.comparable_key, r.received_us "
      "FROM project p JOIN acceptance a ON a.project_id = p.id JOIN run r ON r.seq = a.run_seq "
      "JOIN lane l ON l.id = r.lane_id WHERE p.name = $1";
  sql += filter.run.empty() ? " AND $3 = ''" : " AND r.id = $3";
  sql += filter.workload.empty() ? " AND $4 = ''" : " AND l.workload = $4";
  sql += filter.comparable_key.empty() ? " AND $5 = ''" : " AND r.comparable_key = $5";
  sql += filter.in_force_at ? " AND a.undone_us IS NULL AND (a.until_us IS NULL OR a.until_us > $6)"
                            : " AND $6::bigint IS NULL";
  return sql + " ORDER BY a.seq DESC LIMIT $2";
}

struct Found {
  std::vector<Acceptance> acceptances;
  std::vector<std::int64_t> seqs;
  std::unordered_map<std::int64_t, std::size_t> places;
};

Found found_in(Rows row) {
  Found found;
  std::int64_t seq = 0;
  while (row.next()) {
    Acceptance& a = found.acceptances.emplace_back();
    row.read(seq, a.id, a.project, a.run, a.every_metric, a.reason, a.author, a.token, a.created_at, a.until,
             a.undone_at, a.undone_by, a.workload, a.branch, a.commit, a.comparable_key, a.run_received_at);
    found.places.emplace(seq, found.seqs.size());
    found.seqs.push_back(seq);
  }
  return found;
}

void read_levels(PostgresConnection& connection, Found& found) {
  Rows row = connection.query(
      "SELECT v.acceptance_seq, m.name, v.value FROM acceptance_metric v JOIN metric m ON m.id = v.metric_id "
      "WHERE v.acceptance_seq = ANY ($1::bigint[])",
      found.seqs);
  std::int64_t seq = 0;
  std::string metric;
  double value = 0;
  while (row.next()) {
    row.read(seq, metric, value);
    found.acceptances[found.places.at(seq)].values.emplace(metric, value);
  }
}

/// Each round of the walk is a generation; a circle of commits ends, since each is taken once.
void read_descendants(PostgresConnection& connection, Found& found) {
  Rows row = connection.query(
      "SELECT a.seq, w.sha FROM acceptance a JOIN run r ON r.seq = a.run_seq CROSS JOIN LATERAL ("
      "WITH RECURSIVE d (sha) AS (SELECT c.sha FROM commit_parent c WHERE c.project_id = r.project_id "
      "AND c.parent = r.commit_sha UNION SELECT c.sha FROM d JOIN commit_parent c ON c.project_id = r.project_id "
      "AND c.parent = d.sha) SELECT d.sha FROM d LIMIT $2::bigint) w WHERE a.seq = ANY ($1::bigint[])",
      found.seqs, descendants_max);
  std::int64_t seq = 0;
  std::string descendant;
  while (row.next()) {
    row.read(seq, descendant);
    found.acceptances[found.places.at(seq)].children.push_back(descendant);
  }
}

Result<void> put_membership(PostgresConnection& connection, const Membership& membership) {
  const auto changed = connection.execute(
      "UPDATE run SET in_baseline = $2::boolean AND NOT superseded, in_series = coalesce($3::boolean, in_series) AND "
      "NOT "
      "superseded WHERE id = $1 AND status = 'judged'",
      membership.run, membership.in_baseline, membership.in_series);
  if (changed == 0) return fail(ErrorCode::not_found, "run " + membership.run + ": no such judged run");
  connection.execute("DELETE FROM run_acceptance WHERE run_seq = (SELECT seq FROM run WHERE id = $1)", membership.run);
  return lean(connection, membership.run, membership.leans_on);
}

}  // namespace

Result<void> lean(PostgresConnection& connection, std::string_view run, const std::vector<std::string>& acceptances) {
  if (acceptances.empty()) return {};
  const auto added = connection.execute(
      "INSERT INTO run_acceptance (run_seq, acceptance_seq) SELECT r.seq, a.seq FROM run r JOIN acceptance a "
      "ON a.project_id = r.project_id WHERE r.id = $1 AND a.id = ANY ($2::text[])",
      run, acceptances);
  if (added == std::ssize(acceptances)) return {};
  return fail(ErrorCode::not_found, "run " + std::string(run) + ": it leans on an acceptance that there is none of");
}

namespace {

Found find(PostgresConnection& connection, const AcceptanceFilter& filter) {
  return found_in(connection.query(sql_of(filter), filter.project, std::max<std::int64_t>(filter.limit, 0), filter.run,
                                   filter.workload, filter.comparable_key, filter.in_force_at));
}

}  // namespace

std::vector<Acceptance> acceptances_of(PostgresConnection& connection, const AcceptanceFilter& filter) {
  Found found = find(connection, filter);
  if (found.seqs.empty()) return {};
  read_levels(connection, found);
  if (filter.in_force_at) read_descendants(connection, found);
  return std::move(found.acceptances);
}

void touch_series(PostgresConnection& connection, std::string_view run) {
  connection.execute(
      "INSERT INTO series (lane_id, comparable_key, version) SELECT lane_id, comparable_key, 1 FROM run "
      "WHERE id = $1 AND in_series ON CONFLICT (lane_id, comparable_key) DO UPDATE SET version = series.version + 1",
      run);
}

Result<void> PostgresStore::accept(const Acceptance& acceptance, const AuditEntry& audit) {
  return database_->write([&](PostgresConnection& connection) -> Result<void> {
    Rows row = connection.query(
        "INSERT INTO acceptance (id, project_id, run_seq, every_metric, reason, author, token_id, created_us, "
        "until_us) SELECT $3, p.id, r.seq, $4::boolean, $5, $6, $7, $8::bigint, $9::bigint FROM project p "
        "JOIN run r ON r.project_id = p.id WHERE p.name = $1 AND r.id = $2 AND r.status = 'judged' RETURNING seq",
        acceptance.project, acceptance.run, acceptance.id, acceptance.every_metric, acceptance.reason,
        acceptance.author, acceptance.token, acceptance.created_at, acceptance.until);
    if (!row.next()) return fail(ErrorCode::not_found, "run " + acceptance.run + ": no such judged run");
    std::int64_t seq = 0;
    row.read(seq);
    TRACEWEIR_TRY_VOID(add_levels(connection, seq, acceptance.values));
    touch_all_branches(connection, acceptance.run);
    note(connection, audit);
    return {};
  });
}

Result<std::int64_t> PostgresStore::undo_acceptances(const Undoing& undoing, const AuditEntry& audit) {
  return database_->write([&](PostgresConnection& connection) -> Result<std::int64_t> {
    const auto undone = connection.execute(
        "UPDATE acceptance SET undone_us = $3::bigint, undone_by = $4 WHERE undone_us IS NULL AND run_seq = "
        "(SELECT r.seq FROM run r JOIN project p ON p.id = r.project_id WHERE p.name = $1 AND r.id = $2)",
        undoing.project, undoing.run, undoing.at, undoing.by);
    if (undone == 0) return fail(ErrorCode::not_found, "run " + undoing.run + ": nothing of it is accepted");
    touch_all_branches(connection, undoing.run);
    note(connection, audit);
    return undone;
  });
}

/// Of most runs and series nothing is accepted, which one statement tells.
Result<std::vector<Acceptance>> PostgresStore::acceptances(const AcceptanceFilter& filter) {
  TRACEWEIR_TRY(found, database_->ask([&](PostgresConnection& connection) -> Result<std::vector<Acceptance>> {
    return find(connection, filter).acceptances;
  }));
  if (found.empty()) return found;
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<Acceptance>> {
    return acceptances_of(connection, filter);
  });
}

Result<void> PostgresStore::put_memberships(std::span<const Membership> memberships) {
  return database_->write([&](PostgresConnection& connection) -> Result<void> {
    for (const Membership& membership : memberships) {
      TRACEWEIR_TRY_VOID(put_membership(connection, membership));
      touch_series(connection, membership.run);
    }
    return {};
  });
}

}  // namespace traceweir::store
