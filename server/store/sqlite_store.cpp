#include "server/store/sqlite_store.hpp"

#include <algorithm>
#include <set>

#include "server/hash/sha256.hpp"
#include "server/store/commit_word.hpp"

namespace traceweir::store {
namespace {

constexpr std::string_view select_projects =
    "SELECT p.name, p.mode, p.policy_source, p.read_access, coalesce(y.toml, ''), p.created_us, p.trusted_jobs, "
    "p.trace_days, p.trace_bytes_max, p.stored_bytes_max, p.uploads_per_day_max "
    "FROM project p LEFT JOIN policy y ON y.sha256 = p.policy_sha256";

Project project_of(Query& row) {
  Project project;
  std::string mode, source, access;
  Keeping& keeping = project.keeping;
  row.read(project.name, mode, source, access, project.policy, project.created_at, project.trusted_jobs,
           keeping.trace_days, keeping.trace_bytes_max, keeping.stored_bytes_max, keeping.uploads_per_day_max);
  project.mode = known(mode_of(mode));
  project.policy_source = known(policy_source_of(source));
  project.read_access = known(read_access_of(access));
  return project;
}

constexpr std::string_view select_tokens =
    "SELECT t.id, t.secret_sha256, coalesce(p.name, ''), t.can_upload, t.can_read, t.can_admin, t.note, t.created_us, "
    "t.expires_us, t.revoked_us, t.binding, t.used_us, t.replaced_by FROM token t LEFT JOIN project p ON p.id = "
    "t.project_id";

Token token_of(Query& row) {
  Token token;
  row.read(token.id, token.secret_sha256, token.project, token.scopes.upload, token.scopes.read, token.scopes.admin,
           token.note, token.created_at, token.expires_at, token.revoked_at, token.binding, token.last_used_at,
           token.replaced_by);
  return token;
}

void keep_text(Connection& connection, std::string_view hash, std::string_view toml) {
  connection.execute("INSERT INTO policy (sha256, toml) VALUES (?1, ?2) ON CONFLICT (sha256) DO NOTHING", hash, toml);
}

std::vector<std::string> parents_of(Connection& connection, std::int64_t project, std::string_view sha) {
  std::vector<std::string> parents;
  Query query = connection.query(
      "SELECT parent FROM commit_parent WHERE project_id = ?1 AND sha = ?2 ORDER BY position", project, sha);
  while (query.next()) query.read(parents.emplace_back());
  return parents;
}

/// Makes room for the word where it counts for more than what is known; whether it counts.
bool counts(Connection& connection, std::int64_t project, const Commit& commit, CommitWord word) {
  bool proposed = false;
  Query known =
      connection.query("SELECT proposed FROM commit_node WHERE project_id = ?1 AND sha = ?2", project, commit.sha);
  if (!known.next()) return true;
  known.read(proposed);
  if (word == CommitWord::proposed) return proposed;
  if (proposed)
    connection.execute("DELETE FROM commit_node WHERE project_id = ?1 AND sha = ?2", project,
                       commit.sha);  // its parents, too
  return true;
}

void put_commit(Connection& connection, std::int64_t project, const Commit& commit, CommitWord word) {
  if (!counts(connection, project, commit, word)) return;
  connection.execute(
      "INSERT INTO commit_node (project_id, sha, committed_us, subject, author, proposed) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
      "ON CONFLICT (project_id, sha) DO UPDATE SET "
      "committed_us = coalesce(commit_node.committed_us, excluded.committed_us), "
      "subject = CASE WHEN commit_node.subject = '' THEN excluded.subject ELSE commit_node.subject END, "
      "author = CASE WHEN commit_node.author = '' THEN excluded.author ELSE commit_node.author END",
      project, commit.sha, commit.committed_at, commit.subject, commit.author, word == CommitWord::proposed);
  if (!parents_of(connection, project, commit.sha).empty()) return;
  std::int64_t position = 0;
  for (const std::string& parent : commit.parents)
    connection.execute("INSERT INTO commit_parent (project_id, sha, position, parent) VALUES (?1, ?2, ?3, ?4)", project,
                       commit.sha, position++, parent);
}

/// Errors: not_found.
Result<void> keep_commits(Connection& connection, std::string_view project, std::span<const Commit> commits,
                          CommitWord word) {
  const auto number = project_number(connection, project);
  if (!number) return fail(ErrorCode::not_found, "project: no such project");
  for (const Commit& commit : commits) put_commit(connection, *number, commit, word);
  return {};
}

bool knows_commit(Connection& connection, std::int64_t project, std::string_view sha) {
  return connection.query("SELECT 1 FROM commit_node WHERE project_id = ?1 AND sha = ?2", project, sha).next();
}

}  // namespace

void note(Connection& connection, const AuditEntry& entry) {
  connection.execute("INSERT INTO audit (at_us, project, actor, action, detail) VALUES (?1, ?2, ?3, ?4, ?5)", entry.at,
                     entry.project, entry.actor, entry.action, entry.detail);
}

std::optional<std::int64_t> project_number(Connection& connection, std::string_view name) {
  std::optional<std::int64_t> number;
  Query query = connection.query("SELECT id FROM project WHERE name = ?1", name);
  if (query.next()) query.read(number);
  return number;
}

std::optional<std::string> first_parent(Connection& connection, std::int64_t project, std::string_view sha) {
  std::optional<std::string> parent;
  Query query = connection.query("SELECT parent FROM commit_parent WHERE project_id = ?1 AND sha = ?2 AND position = 0",
                                 project, sha);
  if (query.next()) query.read(parent);
  return parent;
}

namespace {

Result<void> insert_token(Connection& connection, const Token& token, const AuditEntry& audit) {
  const auto project = project_number(connection, token.project);
  if (!project && !token.project.empty()) return fail(ErrorCode::not_found, "project: no such project");
  const auto added = connection.execute(
      "INSERT INTO token (id, secret_sha256, project_id, can_upload, can_read, can_admin, note, created_us, "
      "expires_us, revoked_us, binding) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (id) DO "
      "NOTHING",
      token.id, token.secret_sha256, project, token.scopes.upload, token.scopes.read, token.scopes.admin, token.note,
      token.created_at, token.expires_at, token.revoked_at, token.binding);
  if (added == 0) return fail(ErrorCode::conflict, "token: the id exists");
  note(connection, audit);
  return {};
}

}  // namespace

std::optional<std::string> keep_policy(Connection& connection, std::string_view toml) {
  if (toml.empty()) return std::nullopt;
  std::string sha256 = hash::sha256_hex(toml);
  keep_text(connection, sha256, toml);
  return sha256;
}

Result<std::unique_ptr<Store>> open_sqlite_store(std::string_view path, Opening opening) {
  if (path.empty() || path.find('\0') != path.npos)
    return fail(ErrorCode::bad_config, "store: sqlite:PATH needs the path of a file");
  if (path == ":memory:") return fail(ErrorCode::bad_config, "store: sqlite::memory: would forget every run");
  // Absolute, so that SQLite cannot take a name such as `file:x?mode=memory` for a URI.
  std::error_code error;
  const auto file = std::filesystem::absolute(path, error);
  if (error) return fail(ErrorCode::store_unavailable, "store " + std::string(path) + ": " + error.message());
  TRACEWEIR_TRY(database, SqliteDatabase::open(file, opening));
  auto store = std::make_unique<SqliteStore>(std::move(database));
  if (opening == Opening::service) TRACEWEIR_TRY_VOID(store->end_all_claims());
  return store;
}

Result<std::optional<Project>> SqliteStore::project(std::string_view name) {
  return database_->read([&](Connection& connection) -> Result<std::optional<Project>> {
    Query query = connection.query(std::string(select_projects) + " WHERE p.name = ?1", name);
    if (!query.next()) return std::nullopt;
    return project_of(query);
  });
}

Result<std::vector<Project>> SqliteStore::projects() {
  return database_->read([&](Connection& connection) -> Result<std::vector<Project>> {
    std::vector<Project> projects;
    Query query = connection.query(std::string(select_projects) + " ORDER BY p.name");
    while (query.next()) projects.push_back(project_of(query));
    return projects;
  });
}

Result<void> SqliteStore::put_project(const Project& project, const AuditEntry& audit) {
  return database_->write([&](Connection& connection) -> Result<void> {
    const auto policy = keep_policy(connection, project.policy);
    connection.execute(
        "INSERT INTO project (name, mode, policy_source, read_access, policy_sha256, created_us, trusted_jobs, "
        "trace_days, "
        "trace_bytes_max, stored_bytes_max, uploads_per_day_max) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (name) DO UPDATE SET mode = excluded.mode, "
        "policy_source = excluded.policy_source, read_access = excluded.read_access, "
        "policy_sha256 = excluded.policy_sha256, trusted_jobs = excluded.trusted_jobs, trace_days = "
        "excluded.trace_days, "
        "trace_bytes_max = excluded.trace_bytes_max, stored_bytes_max = excluded.stored_bytes_max, "
        "uploads_per_day_max = excluded.uploads_per_day_max",
        project.name, word(project.mode), word(project.policy_source), word(project.read_access), policy,
        project.created_at, project.trusted_jobs, project.keeping.trace_days, project.keeping.trace_bytes_max,
        project.keeping.stored_bytes_max, project.keeping.uploads_per_day_max);
    note(connection, audit);
    return {};
  });
}

Result<std::optional<Token>> SqliteStore::token(std::string_view id) {
  return database_->read([&](Connection& connection) -> Result<std::optional<Token>> {
    Query query = connection.query(std::string(select_tokens) + " WHERE t.id = ?1", id);
    if (!query.next()) return std::nullopt;
    return token_of(query);
  });
}

Result<std::vector<Token>> SqliteStore::tokens() {
  return database_->read([&](Connection& connection) -> Result<std::vector<Token>> {
    std::vector<Token> tokens;
    Query query = connection.query(std::string(select_tokens) + " ORDER BY t.created_us, t.id");
    while (query.next()) tokens.push_back(token_of(query));
    return tokens;
  });
}

Result<bool> SqliteStore::add_first_administrator(const Token& token, const AuditEntry& audit) {
  return database_->write([&](Connection& connection) -> Result<bool> {
    if (connection.query("SELECT 1 FROM token WHERE can_admin AND project_id IS NULL LIMIT 1").next()) return false;
    TRACEWEIR_TRY_VOID(insert_token(connection, token, audit));
    return true;
  });
}

Result<void> SqliteStore::add_token(const Token& token, const AuditEntry& audit) {
  return database_->write(
      [&](Connection& connection) -> Result<void> { return insert_token(connection, token, audit); });
}

Result<void> SqliteStore::revoke_token(std::string_view id, Timestamp at, const AuditEntry& audit) {
  return database_->write([&](Connection& connection) -> Result<void> {
    const auto changed =
        connection.execute("UPDATE token SET revoked_us = coalesce(revoked_us, ?2) WHERE id = ?1", id, at);
    if (changed == 0) return fail(ErrorCode::not_found, "token: no such token");
    note(connection, audit);
    return {};
  });
}

Result<void> SqliteStore::replace_token(std::string_view id, std::string_view successor, Timestamp expires_at,
                                        const AuditEntry& audit) {
  return database_->write([&](Connection& connection) -> Result<void> {
    const auto changed = connection.execute(
        "UPDATE token SET replaced_by = ?2, expires_us = min(coalesce(expires_us, ?3), ?3) "
        "WHERE id = ?1 AND replaced_by = ''",
        id, successor, expires_at);
    if (changed == 0 && !connection.query("SELECT 1 FROM token WHERE id = ?1", id).next())
      return fail(ErrorCode::not_found, "token: no such token");
    if (changed == 0) return fail(ErrorCode::conflict, "token: another one has taken its place");
    note(connection, audit);
    return {};
  });
}

Result<void> SqliteStore::note_token_use(std::string_view id, Timestamp at) {
  return database_->write([&](Connection& connection) -> Result<void> {
    connection.execute("UPDATE token SET used_us = max(coalesce(used_us, ?2), ?2) WHERE id = ?1", id, at);
    return {};
  });
}

Result<std::int64_t> SqliteStore::remove_issued_tokens(Timestamp ended_before) {
  return database_->write([&](Connection& connection) -> Result<std::int64_t> {
    return connection.execute("DELETE FROM token WHERE binding <> '' AND expires_us < ?1", ended_before);
  });
}

Result<void> SqliteStore::put_policy(std::string_view project, std::string_view sha256, std::string_view toml,
                                     Timestamp at) {
  if (hash::sha256_hex(toml) != sha256)
    return fail(ErrorCode::hash_mismatch, "policy: the SHA-256 of the text is " + hash::sha256_hex(toml));
  return database_->write([&](Connection& connection) -> Result<void> {
    const auto number = project_number(connection, project);
    if (!number) return fail(ErrorCode::not_found, "project: no such project");
    keep_text(connection, sha256, toml);
    connection.execute(
        "INSERT INTO project_policy (project_id, sha256, put_us) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", *number,
        sha256, at);
    return {};
  });
}

Result<std::optional<std::string>> SqliteStore::policy(std::string_view project, std::string_view sha256) {
  return database_->read([&](Connection& connection) -> Result<std::optional<std::string>> {
    std::optional<std::string> toml;
    Query query = connection.query(
        "SELECT y.toml FROM project p JOIN project_policy s ON s.project_id = p.id JOIN policy y ON y.sha256 = "
        "s.sha256 WHERE p.name = ?1 AND s.sha256 = ?2",
        project, sha256);
    if (query.next()) query.read(toml);
    return toml;
  });
}

Result<void> SqliteStore::put_commits(std::string_view project, std::span<const Commit> commits) {
  return database_->write(
      [&](Connection& connection) { return keep_commits(connection, project, commits, CommitWord::settled); });
}

Result<void> SqliteStore::propose_commits(std::string_view project, std::span<const Commit> commits) {
  return database_->write(
      [&](Connection& connection) { return keep_commits(connection, project, commits, CommitWord::proposed); });
}

Result<std::optional<Commit>> SqliteStore::commit(std::string_view project, std::string_view sha) {
  return database_->read([&](Connection& connection) -> Result<std::optional<Commit>> {
    const auto number = project_number(connection, project);
    if (!number) return std::nullopt;
    Query query = connection.query(
        "SELECT sha, committed_us, subject, author FROM commit_node WHERE project_id = ?1 AND sha = ?2", *number, sha);
    if (!query.next()) return std::nullopt;
    Commit commit;
    query.read(commit.sha, commit.committed_at, commit.subject, commit.author);
    commit.parents = parents_of(connection, *number, sha);
    return commit;
  });
}

Result<std::vector<std::string>> SqliteStore::first_parents(std::string_view project, std::string_view sha,
                                                            std::int64_t limit) {
  return database_->read([&](Connection& connection) -> Result<std::vector<std::string>> {
    std::vector<std::string> line;
    const auto number = project_number(connection, project);
    if (!number || !knows_commit(connection, *number, sha)) return line;
    // A graph that a client made up may be a circle: no commit is visited twice.
    std::set<std::string, std::less<>> visited;
    std::optional<std::string> next(sha);
    while (next && std::ssize(line) < limit && visited.insert(*next).second) {
      line.push_back(*next);
      next = first_parent(connection, *number, *next);
    }
    return line;
  });
}

Result<std::vector<AuditEntry>> SqliteStore::audit(std::string_view project, std::int64_t limit) {
  return database_->read([&](Connection& connection) -> Result<std::vector<AuditEntry>> {
    std::vector<AuditEntry> entries;
    const std::string_view where = project.empty() ? "" : " WHERE project = ?2";
    const std::string sql =
        "SELECT at_us, project, actor, action, detail FROM audit" + std::string(where) + " ORDER BY seq DESC LIMIT ?1";
    Query query = project.empty() ? connection.query(sql, std::max<std::int64_t>(limit, 0))
                                  : connection.query(sql, std::max<std::int64_t>(limit, 0), project);
    while (query.next()) {
      AuditEntry& entry = entries.emplace_back();
      query.read(entry.at, entry.project, entry.actor, entry.action, entry.detail);
    }
    return entries;
  });
}

Result<void> SqliteStore::drop_measurements_before(Timestamp time) {
  constexpr std::int64_t runs_at_once = 200;  // others may write in between
  std::int64_t after = 0;
  for (;;) {
    TRACEWEIR_TRY(last, database_->write([&](Connection& connection) -> Result<std::optional<std::int64_t>> {
      std::optional<std::int64_t> end;
      Query row = connection.query(
          "SELECT max(seq) FROM (SELECT seq FROM run WHERE received_us < ?1 AND seq > ?2 ORDER BY seq LIMIT ?3)", time,
          after, runs_at_once);
      if (row.next()) row.read(end);
      if (end)
        connection.execute(
            "DELETE FROM measurement WHERE run_seq IN (SELECT seq FROM run WHERE received_us < ?1 AND seq > ?2 AND "
            "seq <= ?3)",
            time, after, *end);
      return end;
    }));
    if (!last) return {};
    after = *last;
  }
}

Result<bool> SqliteStore::blob_in_use(std::string_view sha256) {
  return database_->read([&](Connection& connection) -> Result<bool> {
    return connection.query("SELECT 1 FROM upload WHERE sha256 = ?1 AND removed_us IS NULL LIMIT 1", sha256).next();
  });
}

}  // namespace traceweir::store
