// For: the commit graph as the client sends it (PUT commits), both ways. Source: the HTTP contract, docs/api.md.
// Not for: asking git (cli) or keeping it (server/store).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::wire {

/// What one body may hold.
inline constexpr std::size_t commits_max = 1000;
inline constexpr std::size_t parents_max = 20;
/// Fewer digits are no name of a commit but of many.
inline constexpr std::size_t commit_prefix_min = 7;

/// Shape: ids are 40 or 64 lower-case hex digits; texts are clean and at most 1024 bytes.
struct CommitRow {
  std::string sha;
  std::vector<std::string> parents;  ///< the first parent first; empty: none, or unknown
  std::optional<Timestamp> committed_at;
  std::string subject, author;
};

/// 40 or 64 lower-case hex digits.
bool is_commit(std::string_view text);
/// The first 7 or more of them: what a person copies out of a table, or git prints. A whole id is none.
bool is_commit_prefix(std::string_view text);

std::string to_json(std::span<const CommitRow> commits);

/// Shape:  `[{"sha": "…", "parents": ["…"], "committed_at": "…", "subject": "…", "author": "…"}]`; all but sha may be
///         absent or null. Longer texts are cut.
/// Errors: bad_body, naming the entry and the key; unknown keys are refused.
Result<std::vector<CommitRow>> commits_from_json(std::string_view text);

}  // namespace traceweir::wire
