#include "server/wire/commit_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/core/text.hpp"
#include "server/wire/json.hpp"

namespace traceweir::wire {
namespace {

constexpr std::size_t text_bytes_max = 1024;

Json json_of(const CommitRow& commit) {
  return {{"sha", commit.sha},
          {"parents", commit.parents},
          {"committed_at", commit.committed_at ? Json(to_rfc3339(*commit.committed_at)) : Json(nullptr)},
          {"subject", commit.subject},
          {"author", commit.author}};
}

std::string sha_in(ObjectReader& in) {
  std::string sha = in.text("sha");
  if (!in.error() && !is_commit(sha)) in.refuse("sha", "expected a full commit id of 40 or 64 lower-case hex digits");
  return sha;
}

std::vector<std::string> parents_in(ObjectReader& in, const std::string& sha) {
  std::vector<std::string> parents;
  const Json* list = in.child("parents");
  if (list == nullptr) return parents;
  if (!list->is_array() || list->size() > parents_max) {
    in.refuse("parents", fmt::format("expected a list of at most {} commit ids", parents_max));
    return parents;
  }
  for (const Json& item : *list) {
    const std::string parent = item.is_string() ? item.get<std::string>() : "";
    if (!is_commit(parent)) in.refuse("parents", "expected full commit ids of 40 or 64 lower-case hex digits");
    if (parent == sha) in.refuse("parents", "a commit is no parent of its own");
    parents.push_back(parent);
  }
  return parents;
}

std::optional<Timestamp> time_in(ObjectReader& in) {
  const auto text = in.maybe_text("committed_at");
  if (!text) return std::nullopt;
  const auto time = from_rfc3339(*text);
  if (!time) in.refuse("committed_at", "expected a time such as 2026-11-29T18:00:00Z");
  return time;
}

Result<CommitRow> commit_of(const Json& json) {
  ObjectReader in(json);
  CommitRow commit;
  commit.sha = sha_in(in);
  commit.parents = parents_in(in, commit.sha);
  commit.committed_at = time_in(in);
  commit.subject = clean_text(in.maybe_text("subject").value_or(""), text_bytes_max);
  commit.author = clean_text(in.maybe_text("author").value_or(""), text_bytes_max);
  in.finish();
  if (in.error()) return tl::unexpected(*in.error());
  return commit;
}

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

}  // namespace

bool is_commit(std::string_view text) { return (text.size() == 40 || text.size() == 64) && is_hex(text); }

bool is_commit_prefix(std::string_view text) {
  return text.size() >= commit_prefix_min && text.size() < 64 && is_hex(text) && !is_commit(text);
}

std::string to_json(std::span<const CommitRow> commits) {
  Json list = Json::array();
  for (const CommitRow& commit : commits) list.push_back(json_of(commit));
  return dump(list);
}

Result<std::vector<CommitRow>> commits_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  if (!json.is_array()) return fail(ErrorCode::bad_body, "expected a list of commits");
  if (json.size() > commits_max)
    return fail(ErrorCode::bad_body, fmt::format("{} commits; at most {} at once", json.size(), commits_max));
  std::vector<CommitRow> commits;
  for (const Json& item : json) {
    auto commit = commit_of(item);
    if (!commit) return fail(commit.error().code, fmt::format("commit {}: {}", commits.size(), commit.error().message));
    commits.push_back(*std::move(commit));
  }
  return commits;
}

}  // namespace traceweir::wire
