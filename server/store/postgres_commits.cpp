#include <algorithm>
#include <map>
#include <set>

#include "server/store/commit_word.hpp"
#include "server/store/postgres_store.hpp"

namespace traceweir::store {
namespace {

/// How much of a line is read in one go.
constexpr std::int64_t line_piece = 1'000;

using Commits = std::map<std::string_view, Commit>;

/// Each commit once and in the order of their names: a row may be changed once per statement only, and two calls that
/// lock the same rows in the same order do not wait for each other in a circle.
Commits merged(std::span<const Commit> commits) {
  Commits by_sha;
  for (const Commit& commit : commits) {
    const auto [known, is_new] = by_sha.try_emplace(commit.sha, commit);
    if (is_new) continue;
    Commit& first = known->second;
    if (first.parents.empty()) first.parents = commit.parents;
    if (!first.committed_at) first.committed_at = commit.committed_at;
    if (first.subject.empty()) first.subject = commit.subject;
    if (first.author.empty()) first.author = commit.author;
  }
  return by_sha;
}

/// Where a settled word meets a proposed one nothing of that stays; `proposed` itself does, until its parents are gone.
void put_nodes(PostgresConnection& connection, std::int64_t project, const Commits& commits, CommitWord word) {
  std::vector<std::string> shas, subjects, authors;
  std::vector<std::optional<Timestamp>> times;
  for (const auto& [sha, commit] : commits) {
    shas.push_back(commit.sha);
    times.push_back(commit.committed_at);
    subjects.push_back(commit.subject);
    authors.push_back(commit.author);
  }
  connection.execute(
      "INSERT INTO commit_node (project_id, sha, committed_us, subject, author, proposed) "
      "SELECT $1::bigint, n.*, $6::boolean FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[]) AS n "
      "ON CONFLICT (project_id, sha) DO UPDATE SET "
      "committed_us = CASE WHEN commit_node.proposed > excluded.proposed OR commit_node.committed_us IS NULL "
      "THEN excluded.committed_us ELSE commit_node.committed_us END, "
      "subject = CASE WHEN commit_node.proposed > excluded.proposed OR commit_node.subject = '' "
      "THEN excluded.subject ELSE commit_node.subject END, "
      "author = CASE WHEN commit_node.proposed > excluded.proposed OR commit_node.author = '' "
      "THEN excluded.author ELSE commit_node.author END "
      "WHERE commit_node.proposed >= excluded.proposed",
      project, shas, times, subjects, authors, word == CommitWord::proposed);
  if (word == CommitWord::settled)
    connection.execute(
        "WITH told AS (UPDATE commit_node SET proposed = false WHERE project_id = $1::bigint AND sha = ANY "
        "($2::text[]) "
        "AND proposed RETURNING sha) DELETE FROM commit_parent c USING told "
        "WHERE c.project_id = $1::bigint AND c.sha = told.sha",
        project, shas);
}

/// The rows of the commits are locked by put_nodes, so nobody else adds parents to them meanwhile.
void put_parents(PostgresConnection& connection, std::int64_t project, const Commits& commits, CommitWord word) {
  std::vector<std::string> shas, parents;
  std::vector<std::int64_t> positions;
  for (const auto& [sha, commit] : commits)
    for (std::size_t i = 0; i < commit.parents.size(); ++i) {
      shas.push_back(commit.sha);
      positions.push_back(static_cast<std::int64_t>(i));
      parents.push_back(commit.parents[i]);
    }
  if (shas.empty()) return;
  connection.execute(
      "INSERT INTO commit_parent (project_id, sha, position, parent) "
      "SELECT $1::bigint, n.sha, n.position, n.parent "
      "FROM unnest($2::text[], $3::bigint[], $4::text[]) AS n (sha, position, parent) WHERE NOT EXISTS "
      "(SELECT FROM commit_parent c WHERE c.project_id = $1::bigint AND c.sha = n.sha) AND EXISTS "
      "(SELECT FROM commit_node k WHERE k.project_id = $1::bigint AND k.sha = n.sha AND k.proposed = $5::boolean)",
      project, shas, positions, parents, word == CommitWord::proposed);
}

/// Errors: not_found.
Result<void> keep_commits(PostgresConnection& connection, std::string_view project, const Commits& commits,
                          CommitWord word) {
  const auto number = project_number(connection, project);
  if (!number) return fail(ErrorCode::not_found, "project: no such project");
  if (commits.empty()) return {};
  put_nodes(connection, *number, commits, word);
  put_parents(connection, *number, commits, word);
  return {};
}

/// The project's number, if it knows the commit.
std::optional<std::int64_t> project_knowing(PostgresConnection& connection, std::string_view project,
                                            std::string_view sha) {
  std::optional<std::int64_t> number;
  Rows row = connection.query(
      "SELECT p.id FROM project p JOIN commit_node c ON c.project_id = p.id WHERE p.name = $1 AND c.sha = $2", project,
      sha);
  if (row.next()) row.read(number);
  return number;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> line_of(PostgresConnection& connection, std::int64_t project,
                                                         std::string_view sha, std::int64_t limit) {
  // Each step is a look-up of its own: as a join it would be up to the planner to read all commits for each step.
  Rows rows = connection.query(
      "WITH RECURSIVE line (sha, parent, number) AS ("
      "SELECT sha, parent, 1 FROM commit_parent WHERE project_id = $1::bigint AND sha = $2 AND position = 0 "
      "UNION ALL SELECT l.parent, (SELECT c.parent FROM commit_parent c WHERE c.project_id = $1::bigint "
      "AND c.sha = l.parent AND c.position = 0), l.number + 1 "
      "FROM line l WHERE l.parent IS NOT NULL AND l.number < $3::bigint) "
      "SELECT sha, parent FROM line WHERE parent IS NOT NULL ORDER BY number",
      project, sha, limit);
  std::vector<std::pair<std::string, std::string>> line;
  while (rows.next()) {
    auto& [child, parent] = line.emplace_back();
    rows.read(child, parent);
  }
  return line;
}

Result<void> PostgresStore::put_commits(std::string_view project, std::span<const Commit> commits) {
  const Commits by_sha = merged(commits);
  return database_->write(
      [&](PostgresConnection& connection) { return keep_commits(connection, project, by_sha, CommitWord::settled); });
}

Result<void> PostgresStore::propose_commits(std::string_view project, std::span<const Commit> commits) {
  const Commits by_sha = merged(commits);
  return database_->write(
      [&](PostgresConnection& connection) { return keep_commits(connection, project, by_sha, CommitWord::proposed); });
}

Result<std::optional<Commit>> PostgresStore::commit(std::string_view project, std::string_view sha) {
  return database_->ask([&](PostgresConnection& connection) -> Result<std::optional<Commit>> {
    Rows row = connection.query(
        "SELECT c.sha, c.committed_us, c.subject, c.author, n.parent FROM project p "
        "JOIN commit_node c ON c.project_id = p.id LEFT JOIN commit_parent n ON n.project_id = c.project_id "
        "AND n.sha = c.sha WHERE p.name = $1 AND c.sha = $2 ORDER BY n.position",
        project, sha);
    if (row.count() == 0) return std::nullopt;
    Commit commit;
    std::optional<std::string> parent;
    while (row.next()) {
      row.read(commit.sha, commit.committed_at, commit.subject, commit.author, parent);
      if (parent) commit.parents.push_back(*std::move(parent));
    }
    return commit;
  });
}

Result<std::vector<std::string>> PostgresStore::first_parents(std::string_view project, std::string_view sha,
                                                              std::int64_t limit) {
  if (limit <= 0) return std::vector<std::string>{};
  // Of many commits nobody has told anything, which one statement says.
  TRACEWEIR_TRY(number, database_->ask([&](PostgresConnection& connection) -> Result<std::optional<std::int64_t>> {
    return project_knowing(connection, project, sha);
  }));
  if (!number) return std::vector<std::string>{};
  return database_->read([&](PostgresConnection& connection) -> Result<std::vector<std::string>> {
    std::vector<std::string> line{std::string(sha)};
    // A graph that a client made up may be a circle: no commit is visited twice.
    std::set<std::string, std::less<>> visited{line.front()};
    for (bool ended = false; !ended;) {
      const auto piece = line_of(connection, *number, line.back(), std::min(line_piece, limit));
      ended = std::ssize(piece) < line_piece;
      for (const auto& [child, parent] : piece) {
        if (std::ssize(line) >= limit || !visited.insert(parent).second) return line;
        line.push_back(parent);
      }
    }
    return line;
  });
}

}  // namespace traceweir::store
