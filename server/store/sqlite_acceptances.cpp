#include <algorithm>

#include "server/store/descendants.hpp"
#include "server/store/sqlite_store.hpp"

namespace traceweir::store {
namespace {

/// The accepted levels, each under the number that its metric has since the run was judged.
Result<void> add_levels(Connection& connection, std::int64_t acceptance, const std::map<std::string, double>& values) {
  for (const auto& [metric, value] : values) {
    const auto added = connection.execute(
        "INSERT INTO acceptance_metric (acceptance_seq, metric_id, value) SELECT ?1, id, ?3 FROM metric WHERE name = "
        "?2",
        acceptance, metric, value);
    if (added == 0) return fail(ErrorCode::not_found, "metric " + metric + ": no run has measured it");
  }
  return {};
}

/// An acceptance speaks to every branch that has, or gets, its commit.
void touch_all_branches(Connection& connection, std::string_view run) {
  connection.execute(
      "UPDATE series SET version = version + 1 WHERE id IN (SELECT s.id FROM run r JOIN lane l ON l.id = r.lane_id "
      "JOIN lane k ON k.project_id = l.project_id AND k.workload = l.workload "
      "JOIN series s ON s.lane_id = k.id AND s.comparable_key = r.comparable_key WHERE r.id = ?1)",
      run);
}

std::string sql_of(const AcceptanceFilter& filter) {
  std::string sql =
      "SELECT a.seq, a.id, p.name, r.id, a.every_metric, a.reason, a.author, a.token_id, a.created_us, a.until_us, "
      "a.undone_us, a.undone_by, l.workload, l.branch, r.commit_sha, r.comparable_key, r.received_us, r.project_id "
      "FROM project p JOIN acceptance a ON a.project_id = p.id JOIN run r ON r.seq = a.run_seq "
      "JOIN lane l ON l.id = r.lane_id WHERE p.name = ?1";
  sql += filter.run.empty() ? " AND ?3 = ''" : " AND r.id = ?3";
  sql += filter.workload.empty() ? " AND ?4 = ''" : " AND l.workload = ?4";
  sql += filter.comparable_key.empty() ? " AND ?5 = ''" : " AND r.comparable_key = ?5";
  sql +=
      filter.in_force_at ? " AND a.undone_us IS NULL AND (a.until_us IS NULL OR a.until_us > ?6)" : " AND ?6 IS NULL";
  return sql + " ORDER BY a.seq DESC LIMIT ?2";
}

struct Stored {
  std::int64_t seq = 0, project = 0;
  Acceptance acceptance;
};

Stored stored_of(Query& row) {
  Stored stored;
  Acceptance& a = stored.acceptance;
  row.read(stored.seq, a.id, a.project, a.run, a.every_metric, a.reason, a.author, a.token, a.created_at, a.until,
           a.undone_at, a.undone_by, a.workload, a.branch, a.commit, a.comparable_key, a.run_received_at,
           stored.project);
  return stored;
}

void read_levels(Connection& connection, Stored& stored) {
  Query row = connection.query(
      "SELECT m.name, v.value FROM acceptance_metric v JOIN metric m ON m.id = v.metric_id WHERE v.acceptance_seq = ?1",
      stored.seq);
  std::string metric;
  double value = 0;
  while (row.next()) {
    row.read(metric, value);
    stored.acceptance.values.emplace(metric, value);
  }
}

/// SQLite walks such a table breadth first; a circle of commits ends, since each is taken once.
void read_descendants(Connection& connection, Stored& stored) {
  Query row = connection.query(
      "WITH RECURSIVE d (sha) AS (SELECT sha FROM commit_parent WHERE project_id = ?1 AND parent = ?2 "
      "UNION SELECT c.sha FROM d JOIN commit_parent c ON c.project_id = ?1 AND c.parent = d.sha LIMIT ?3) "
      "SELECT sha FROM d",
      stored.project, stored.acceptance.commit, descendants_max);
  while (row.next()) row.read(stored.acceptance.children.emplace_back());
}

Result<void> put_membership(Connection& connection, const Membership& membership) {
  const auto changed = connection.execute(
      "UPDATE run SET in_baseline = ?2 AND NOT superseded, in_series = coalesce(?3, in_series) AND NOT "
      "superseded WHERE id = ?1 AND status = 'judged'",
      membership.run, membership.in_baseline, membership.in_series);
  if (changed == 0) return fail(ErrorCode::not_found, "run " + membership.run + ": no such judged run");
  connection.execute("DELETE FROM run_acceptance WHERE run_seq = (SELECT seq FROM run WHERE id = ?1)", membership.run);
  return lean(connection, membership.run, membership.leans_on);
}

}  // namespace

Result<void> lean(Connection& connection, std::string_view run, const std::vector<std::string>& acceptances) {
  for (const std::string& id : acceptances) {
    const auto added = connection.execute(
        "INSERT INTO run_acceptance (run_seq, acceptance_seq) SELECT r.seq, a.seq FROM run r JOIN acceptance a "
        "ON a.project_id = r.project_id WHERE r.id = ?1 AND a.id = ?2",
        run, id);
    if (added == 0) return fail(ErrorCode::not_found, "acceptance " + id + ": no such acceptance");
  }
  return {};
}

std::vector<Acceptance> acceptances_of(Connection& connection, const AcceptanceFilter& filter) {
  std::vector<Stored> found;
  {
    Query row = connection.query(sql_of(filter), filter.project, std::max<std::int64_t>(filter.limit, 0), filter.run,
                                 filter.workload, filter.comparable_key, filter.in_force_at);
    while (row.next()) found.push_back(stored_of(row));
  }
  std::vector<Acceptance> acceptances;
  for (Stored& stored : found) {
    read_levels(connection, stored);
    if (filter.in_force_at) read_descendants(connection, stored);
    acceptances.push_back(std::move(stored.acceptance));
  }
  return acceptances;
}

void touch_series(Connection& connection, std::string_view run) {
  connection.execute(
      "INSERT INTO series (lane_id, comparable_key, version) SELECT lane_id, comparable_key, 1 FROM run "
      "WHERE id = ?1 AND in_series = 1 "
      "ON CONFLICT (lane_id, comparable_key) DO UPDATE SET version = series.version + 1",
      run);
}

Result<void> SqliteStore::accept(const Acceptance& acceptance, const AuditEntry& audit) {
  return database_->write([&](Connection& connection) -> Result<void> {
    std::optional<std::int64_t> seq;
    {
      Query row = connection.query(
          "INSERT INTO acceptance (id, project_id, run_seq, every_metric, reason, author, token_id, created_us, "
          "until_us) SELECT ?3, p.id, r.seq, ?4, ?5, ?6, ?7, ?8, ?9 FROM project p JOIN run r ON r.project_id = p.id "
          "WHERE p.name = ?1 AND r.id = ?2 AND r.status = 'judged' RETURNING seq",
          acceptance.project, acceptance.run, acceptance.id, acceptance.every_metric, acceptance.reason,
          acceptance.author, acceptance.token, acceptance.created_at, acceptance.until);
      if (row.next()) row.read(seq);
    }
    if (!seq) return fail(ErrorCode::not_found, "run " + acceptance.run + ": no such judged run");
    TRACEWEIR_TRY_VOID(add_levels(connection, *seq, acceptance.values));
    touch_all_branches(connection, acceptance.run);
    note(connection, audit);
    return {};
  });
}

Result<std::int64_t> SqliteStore::undo_acceptances(const Undoing& undoing, const AuditEntry& audit) {
  return database_->write([&](Connection& connection) -> Result<std::int64_t> {
    const auto undone = connection.execute(
        "UPDATE acceptance SET undone_us = ?3, undone_by = ?4 WHERE undone_us IS NULL AND run_seq = (SELECT r.seq "
        "FROM run r JOIN project p ON p.id = r.project_id WHERE p.name = ?1 AND r.id = ?2)",
        undoing.project, undoing.run, undoing.at, undoing.by);
    if (undone == 0) return fail(ErrorCode::not_found, "run " + undoing.run + ": nothing of it is accepted");
    touch_all_branches(connection, undoing.run);
    note(connection, audit);
    return undone;
  });
}

Result<std::vector<Acceptance>> SqliteStore::acceptances(const AcceptanceFilter& filter) {
  return database_->read(
      [&](Connection& connection) -> Result<std::vector<Acceptance>> { return acceptances_of(connection, filter); });
}

Result<void> SqliteStore::put_memberships(std::span<const Membership> memberships) {
  return database_->write([&](Connection& connection) -> Result<void> {
    for (const Membership& membership : memberships) {
      TRACEWEIR_TRY_VOID(put_membership(connection, membership));
      touch_series(connection, membership.run);
    }
    return {};
  });
}

}  // namespace traceweir::store
