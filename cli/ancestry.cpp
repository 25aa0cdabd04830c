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

void say_that_it_is_cut(const Ancestry& ancestry) {
  if (ancestry.cut)
    fmt::print(
        stderr,
        "traceweir: this clone is shallow and ends after {} commits; where the baseline lies further back, fetch "
        "more of the history (git fetch --unshallow; actions/checkout: fetch-depth: 0)\n",
        ancestry.commits.size());
}

/// Each commit once, however many of the lines it lies on.
std::vector<wire::CommitRow> commits_before(const AncestryOf& of) {
  std::vector<wire::CommitRow> commits;
  std::set<std::string> known;
  for (const std::string& start : {of.commit, of.base}) {
    const Ancestry ancestry = git_ancestry(start, ancestors_max);
    if (start == of.commit) say_that_it_is_cut(ancestry);
    for (const wire::CommitRow& commit : ancestry.commits)
      if (known.insert(commit.sha).second) commits.push_back(commit);
  }
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
