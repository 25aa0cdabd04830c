#include "server/store/postgres_store.hpp"

#include <algorithm>

#include "server/store/postgres_settings.hpp"
#include "server/store/postgres_url.hpp"

#include "server/hash/sha256.hpp"

namespace traceweir::store {
namespace {

constexpr std::string_view select_projects =
    "SELECT p.name, p.mode, p.policy_source, p.read_access, coalesce(y.toml, ''), p.created_us, p.trusted_jobs, "
    "p.trace_days, p.trace_bytes_max, p.stored_bytes_max, p.uploads_per_day_max "
    "FROM project p LEFT JOIN policy y ON y.sha256 = p.policy_sha256";

Project project_of(Rows& row) {
  Project project;
  std::string mode, source, access;
  Keeping& keeping = project.keeping;
  row.read(project.name, mode, source, access, project.policy, project.created_at, project.trusted_jobs,
           keeping.trace_days, keeping.trace_bytes_max, keeping.stored_bytes_max, keeping.uploads_per_day_max);
  project.mode = stored_word(mode_of(mode));
  project.policy_source = stored_word(policy_source_of(source));
  project.read_access = stored_word(read_access_of(access));
  return project;
}

constexpr std::string_view select_tokens =
    "SELECT t.id, t.secret_sha256, coalesce(p.name, ''), t.can_upload, t.can_read, t.can_admin, t.note, t.created_us, "
    "t.expires_us, t.revoked_us, t.binding, t.used_us, t.replaced_by FROM token t LEFT JOIN project p ON p.id = "
    "t.project_id";

Token token_of(Rows& row) {
  Token token;
  row.read(token.id, token.secret_sha256, token.project, token.scopes.upload, token.scopes.read, token.scopes.admin,
           token.note, token.created_at, token.expires_at, token.revoked_at, token.binding, token.last_used_at,
           token.replaced_by);
  return token;
}

void keep_text(PostgresConnection& connection, std::string_view hash, std::string_view toml) {
  connection.execute("INSERT INTO policy (sha256, toml) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING", hash, toml);
}

/// Keeps a policy text; returns its SHA-256 in hex, or nothing for the empty text.
std::optional<std::string> keep_policy(PostgresConnection& connection, std::string_view toml) {
  if (toml.empty()) return std::nullopt;
  std::string sha256 = hash::sha256_hex(toml);
  keep_text(connection, sha256, toml);
  return sha256;
}

}  // namespace

void note(PostgresConnection& connection, const AuditEntry& entry) {
  connection.execute("INSERT INTO audit (at_us, project, actor, action, detail) VALUES ($1, $2, $3, $4, $5)", entry.at,
                     entry.project, entry.actor, entry.action, entry.detail);
}

namespace {

Result<void> insert_token(PostgresConnection& connection, const Token& token, const AuditEntry& audit) {
  const auto project = token.project.empty() ? std::nullopt : project_number(connection, token.project);
  if (!token.project.empty() && !project) return fail(ErrorCode::not_found, "project: no such project");
  const auto added = connection.execute(
      "INSERT INTO token (id, secret_sha256, project_id, can_upload, can_read, can_admin, note, created_us, "
      "expires_us, revoked_us, binding) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO "
      "NOTHING",
      token.id, token.secret_sha256, project, token.scopes.upload, token.scopes.read, token.scopes.admin, token.note,
      token.created_at, token.expires_at, token.revoked_at, token.binding);
  if (added == 0) return fail(ErrorCode::conflict, "token: the id exists");
  note(connection, audit);
  return {};
}

}  // namespace

std::optional<std::int64_t> project_number(PostgresConnection& connection, std::string_view name) {
  std::optional<std::int64_t> number;
  Rows row = connection.query("SELECT id FROM project WHERE name = $1", name);
  if (row.next()) row.read(number);
  return number;
}

Result<std::unique_ptr<Store>> open_postgres_store(std::string_view rest, Opening) {
  TRACEWEIR_TRY(address, postgres_address(rest));
  TRACEWEIR_TRY(database, PostgresDatabase::open(address));
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  TRACEWEIR_TRY_VOID(database->write([now](PostgresConnection& connection) -> Result<void> {
    make_months(connection, now);
    return {};
  }));
  return std::make_unique<PostgresStore>(std::move(database));
}

Result<std::optional<Project>> PostgresStore::project(std::string_view name) {
  return database_->ask([&](PostgresConnection& connection) -> Result<std::optional<Project>> {
    Rows row = connection.query(std::string(select_projects) + " WHERE p.name = $1", name);
    if (!row.next()) return std::nullopt;
    return project_of(row);
  });
}

Result<std::vector<Project>> PostgresStore::projects() {
  return database_->ask([&](PostgresConnection& connection) -> Result<std::vector<Project>> {
    std::vector<Project> projects;
    Rows row = connection.query(std::string(select_projects) + " ORDER BY p.name");
    while (row.next()) projects.push_back(project_of(row));
    return projects;
  });
}

Result<void> PostgresStore::put_project(const Project& project, const AuditEntry& audit) {
  return database_->write([&](PostgresConnection& connection) -> Result<void> {
    const auto policy = keep_policy(connection, project.policy);
    connection.execute(
        "INSERT INTO project (name, mode, policy_source, read_access, policy_sha256, created_us, trusted_jobs, "
        "trace_days, "
        "trace_bytes_max, stored_bytes_max, uploads_per_day_max) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8::bigint, $9::bigint, $10::bigint, $11::bigint) ON CONFLICT (name) DO "
        "UPDATE "
        "SET mode = excluded.mode, "
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

Result<std::optional<Token>> PostgresStore::token(std::string_view id) {
  return database_->ask([&](PostgresConnection& connection) -> Result<std::optional<Token>> {
    Rows row = connection.query(std::string(select_tokens) + " WHERE t.id = $1", id);
    if (!row.next()) return std::nullopt;
    return token_of(row);
  });
}

Result<std::vector<Token>> PostgresStore::tokens() {
  return database_->ask([&](PostgresConnection& connection) -> Result<std::vector<Token>> {
    std::vector<Token> tokens;
    Rows row = connection.query(std::string(select_tokens) + " ORDER BY t.created_us, t.id");
    while (row.next()) tokens.push_back(token_of(row));
    return tokens;
  });
}

Result<bool> PostgresStore::add_first_administrator(const Token& token, const AuditEntry& audit) {
  return database_->write([&](PostgresConnection& connection) -> Result<bool> {
    connection.query("SELECT pg_advisory_xact_lock($1::bigint)", administrator_lock_key);
    if (connection.query("SELECT 1 FROM token WHERE can_admin AND project_id IS NULL LIMIT 1").next()) return false;
    TRACEWEIR_TRY_VOID(insert_token(connection, token, audit));
    return true;
  });
}

Result<void> PostgresStore::add_token(const Token& token, const AuditEntry& audit) {
  return database_->write(
      [&](PostgresConnection& connection) -> Result<void> { return insert_token(connection, token, audit); });
}

Result<void> PostgresStore::revoke_token(std::string_view id, Timestamp at, const AuditEntry& audit) {
  return database_->write([&](PostgresConnection& connection) -> Result<void> {
    const auto changed =
        connection.execute("UPDATE token SET revoked_us = coalesce(revoked_us, $2::bigint) WHERE id = $1", id, at);
    if (changed == 0) return fail(ErrorCode::not_found, "token: no such token");
    note(connection, audit);
    return {};
  });
}

Result<void> PostgresStore::replace_token(std::string_view id, std::string_view successor, Timestamp expires_at,
                                          const AuditEntry& audit) {
  return database_->write([&](PostgresConnection& connection) -> Result<void> {
    const auto changed = connection.execute(
        "UPDATE token SET replaced_by = $2, expires_us = least(coalesce(expires_us, $3::bigint), $3::bigint) "
        "WHERE id = $1 AND replaced_by = ''",
        id, successor, expires_at);
    if (changed == 0 && !connection.query("SELECT 1 FROM token WHERE id = $1", id).next())
      return fail(ErrorCode::not_found, "token: no such token");
    if (changed == 0) return fail(ErrorCode::conflict, "token: another one has taken its place");
    note(connection, audit);
    return {};
  });
}

Result<void> PostgresStore::note_token_use(std::string_view id, Timestamp at) {
  return database_->change([&](PostgresConnection& connection) -> Result<void> {
    connection.execute("UPDATE token SET used_us = greatest(coalesce(used_us, $2::bigint), $2::bigint) WHERE id = $1",
                       id, at);
    return {};
  });
}

Result<std::int64_t> PostgresStore::remove_issued_tokens(Timestamp ended_before) {
  return database_->write([&](PostgresConnection& connection) -> Result<std::int64_t> {
    return connection.execute("DELETE FROM token WHERE binding <> '' AND expires_us < $1", ended_before);
  });
}

Result<void> PostgresStore::put_policy(std::string_view project, std::string_view sha256, std::string_view toml,
                                       Timestamp at) {
  if (hash::sha256_hex(toml) != sha256)
    return fail(ErrorCode::hash_mismatch, "policy: the SHA-256 of the text is " + hash::sha256_hex(toml));
  return database_->write([&](PostgresConnection& connection) -> Result<void> {
    const auto number = project_number(connection, project);
    if (!number) return fail(ErrorCode::not_found, "project: no such project");
    keep_text(connection, sha256, toml);
    connection.execute(
        "INSERT INTO project_policy (project_id, sha256, put_us) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", *number,
        sha256, at);
    return {};
  });
}

Result<std::optional<std::string>> PostgresStore::policy(std::string_view project, std::string_view sha256) {
  return database_->ask([&](PostgresConnection& connection) -> Result<std::optional<std::string>> {
    std::optional<std::string> toml;
    Rows row = connection.query(
        "SELECT y.toml FROM project p JOIN project_policy s ON s.project_id = p.id JOIN policy y ON y.sha256 = "
        "s.sha256 WHERE p.name = $1 AND s.sha256 = $2",
        project, sha256);
    if (row.next()) row.read(toml);
    return toml;
  });
}

Result<std::vector<AuditEntry>> PostgresStore::audit(std::string_view project, std::int64_t limit) {
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<AuditEntry>> {
    std::vector<AuditEntry> entries;
    const std::string_view where = project.empty() ? "$2 = ''" : "project = $2";
    Rows row = connection.query("SELECT at_us, project, actor, action, detail FROM audit WHERE " + std::string(where) +
                                    " ORDER BY seq DESC LIMIT $1",
                                std::max<std::int64_t>(limit, 0), project);
    while (row.next()) {
      AuditEntry& entry = entries.emplace_back();
      row.read(entry.at, entry.project, entry.actor, entry.action, entry.detail);
    }
    return entries;
  });
}

Result<bool> PostgresStore::blob_in_use(std::string_view sha256) {
  return database_->ask([&](PostgresConnection& connection) -> Result<bool> {
    return connection.query("SELECT 1 FROM upload WHERE sha256 = $1 AND removed_us IS NULL LIMIT 1", sha256).next();
  });
}

}  // namespace traceweir::store
