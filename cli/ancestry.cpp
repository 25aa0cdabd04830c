#include "cli/ancestry.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <vector>

#include "cli/git.hpp"
#include "cli/patience.hpp"
#include "server/wire/commit_list.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

/// Source: spec of the gate, section 3.
constexpr std::size_t ancestors_max = 200;

/// Each commit once, however many of the lines it lies on.
std::vector<wire::CommitRow> commits_before(const AncestryOf& of) {
  std::vector<wire::CommitRow> commits;
  std::set<std::string> known;
  for (const std::string& start : {of.commit, of.base})
    for (const wire::CommitRow& commit : git_ancestry(start, ancestors_max))
      if (known.insert(commit.sha).second) commits.push_back(commit);
  return commits;
}

}  // namespace

Result<void> send_ancestry(const Client& client, const AncestryOf& of) {
  const std::vector<wire::CommitRow> commits = commits_before(of);
  if (commits.empty()) return {};
  ClientRequest request;
  request.method = "PUT";
  request.path = fmt::format("/api/v1/projects/{}/commits", wire::percent_encoded(of.project));
  request.text = wire::to_json(commits);
  request.headers = {{"Content-Type", "application/json"}};
  TRACEWEIR_TRY(answer, send_with_patience(client, request));
  if (answer.status == 204) return {};
  const Error error = error_of(answer);
  if (error.code == ErrorCode::unauthorized || error.code == ErrorCode::forbidden) return tl::unexpected(error);
  fmt::print(stderr, "traceweir: the commits before this one were not taken: {}: {}\n", word(error.code),
             error.message);
  return {};
}

}  // namespace traceweir::cli
