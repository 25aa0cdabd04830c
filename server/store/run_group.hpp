// For: runs that are made of several uploads: which uploads belong together, whether one more may join, when the run is
// complete. Pure, so that every store decides alike inside its transaction. Not for: SQL, or reading traces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/store/store.hpp"

namespace traceweir::store {

/// What makes uploads of one project one run: workload, commit, change, attempt, and the run key, else (where `ranks`
/// is stated) the CI run with its job and matrix. Empty: the upload is a run of its own. Shape: SHA-256 in hex.
std::string group_of(const RunHead& head);

/// What an upload is to a run that has its group.
enum class Joining {
  add,          ///< fills a free slot
  seen_before,  ///< the same rank with the same content
};

/// Errors: conflict (the slot holds other content, the run waits for no further rank, or the upload contradicts the
///         run, naming both values), bad_query (a rank that the run does not expect).
Result<Joining> joining_of(const RunRecord& run, const RunHead& head, const Upload& upload);

/// Why an upload that was analysed cannot fill its slots: a rank that the run does not expect, or one that another
/// upload holds. Nothing: it can.
std::optional<Error> obstacle_of(const RunRecord& run, std::int64_t rank, std::int64_t ranks);

/// Whether both measure the same change (one pull request, or forks), or no change. Whoever proposes a change can name
/// any commit, CI run and key: what is sent of a change is never one run with, a sample of, or in the place of what is
/// sent of a branch, or of another change.
bool same_change(const RunHead& a, const RunHead& b);
bool is_change(const RunHead& head);

/// Whether `newer` takes the place of `older`, once it is judged: a higher attempt of the same run key, or of the same
/// CI run, job and matrix, of the same change. Both are of one project, workload and commit.
bool supersedes(const RunHead& newer, const RunHead& older);

/// What an idempotency key was sent with before.
struct KeyUse {
  std::string run, sha256, commit, workload;
  std::int64_t rank = 0;
};

/// Errors: key_reused, naming what this upload says otherwise.
Result<void> check_same_use(const KeyUse& before, const RunHead& head, const Upload& upload);

/// Whether an upload may come: its key was used before, or a run has its group, or neither.
/// Errors: those of check_same_use() and joining_of().
Result<void> check_coming(const std::optional<KeyUse>& before, const RunRecord* run, const RunHead& head,
                          const Upload& upload);

/// Ranks as a store keeps them in a text: whole numbers, separated by commas.
std::string text_of_ranks(const std::vector<std::int64_t>& ranks);
std::vector<std::int64_t> ranks_of_text(std::string_view text);

/// Fills in what the analysis of an upload said, or why the file cannot be a part of the run. Returns the upload, or
/// nullptr where this try waits for no analysis (any more).
const Upload* settle(RunRecord& run, const UploadResult& result);

/// Whether nothing more is waited for: every expected rank is there, or the run was closed; and no upload is still
/// being analysed that could matter.
bool is_complete(const RunRecord& run);

/// The ranks that whole or just received uploads hold, ascending.
std::vector<std::int64_t> ranks_received(const RunRecord& run);

/// The expected ranks that no upload holds, ascending.
std::vector<std::int64_t> ranks_missing(const RunRecord& run);

}  // namespace traceweir::store
