#include "server/store/run_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "server/hash/sha256.hpp"

namespace traceweir::store {
namespace {

/// Each text with its length in front, so that two lists never read the same.
std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += fmt::format("{}:{},", text.size(), text);
  return all;
}

std::string text_of(const std::optional<std::int64_t>& number) { return number ? std::to_string(*number) : ""; }

std::string text_of(const std::map<std::string, std::string>& environment) {
  std::string text;
  for (const auto& [name, value] : environment) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

/// What must be equal in all uploads of a run: it decides how the run is read, judged and compared.
struct Fact {
  std::string_view name;
  std::string (*of)(const RunHead& head);
};
constexpr Fact facts[] = {
    {"branch", [](const RunHead& head) { return head.branch; }},
    {"base_branch", [](const RunHead& head) { return head.base_branch; }},
    {"head", [](const RunHead& head) { return head.head; }},
    {"base", [](const RunHead& head) { return head.base; }},
    {"pr", [](const RunHead& head) { return text_of(head.pull_request); }},
    {"fork", [](const RunHead& head) { return std::string(head.fork ? "true" : "false"); }},
    {"steps", [](const RunHead& head) { return head.steps_glob; }},
    {"skip_steps", [](const RunHead& head) { return text_of(head.skip_steps); }},
    {"window", [](const RunHead& head) { return head.window; }},
    {"policy", [](const RunHead& head) { return head.policy.empty() ? "" : hash::sha256_hex(head.policy); }},
    {"env.*", [](const RunHead& head) { return text_of(head.environment); }},
};

Result<void> check_agreement(const RunRecord& run, const RunHead& head) {
  for (const Fact& fact : facts) {
    const std::string ours = fact.of(run.head), theirs = fact.of(head);
    if (ours != theirs)
      return fail(ErrorCode::conflict,
                  fmt::format("{}: run {} was begun with '{}', and this upload of it says '{}'; all ranks of a run say "
                              "the same",
                              fact.name, run.head.id, ours, theirs));
  }
  if (head.ranks_expected == 0 || head.ranks_expected == run.head.ranks_expected) return {};
  return fail(ErrorCode::conflict,
              run.head.ranks_expected == 0
                  ? fmt::format("ranks: this upload says {}, and run {} was begun without; say it with each upload",
                                head.ranks_expected, run.head.id)
                  : fmt::format("ranks: this upload says {}, and run {} was begun with {}", head.ranks_expected,
                                run.head.id, run.head.ranks_expected));
}

/// What to do about a run that takes no further upload.
constexpr std::string_view another_run = "send it with a higher attempt or another run_key";

bool holds(const Upload& upload, std::int64_t rank) {
  const std::int64_t count = std::max<std::int64_t>(upload.ranks, 1);
  return upload.status != UploadStatus::rejected && upload.rank <= rank && rank < upload.rank + count;
}

const Upload* holder_of(const RunRecord& run, std::int64_t rank) {
  const auto found =
      std::find_if(run.uploads.begin(), run.uploads.end(), [rank](const Upload& u) { return holds(u, rank); });
  return found == run.uploads.end() ? nullptr : &*found;
}

bool any_received(const RunRecord& run) {
  return std::any_of(run.uploads.begin(), run.uploads.end(),
                     [](const Upload& upload) { return upload.status == UploadStatus::received; });
}

/// The same rank's trace twice: what is told by the traces themselves, whichever slots they were sent for.
std::optional<Error> twice_stated(const RunRecord& others, const UploadResult& result) {
  for (const Upload& other : others.uploads) {
    if (other.status != UploadStatus::whole) continue;
    for (const std::int64_t rank : result.stated)
      if (std::find(other.stated.begin(), other.stated.end(), rank) != other.stated.end())
        return Error{
            ErrorCode::conflict,
            fmt::format("rank: the trace sent as rank {} states that it is of rank {}, as does the one that was "
                        "sent as rank {} of run {}; send each rank's own trace",
                        result.rank, rank, other.rank, others.head.id)};
  }
  return std::nullopt;
}

}  // namespace

bool is_change(const RunHead& head) { return head.fork || head.pull_request.has_value(); }

bool same_change(const RunHead& a, const RunHead& b) { return a.fork == b.fork && a.pull_request == b.pull_request; }

bool supersedes(const RunHead& newer, const RunHead& older) {
  const bool same_key = !newer.run_key.empty() && newer.run_key == older.run_key;
  const bool same_job =
      !newer.ci_run.empty() && newer.ci_run == older.ci_run && newer.job == older.job && newer.matrix == older.matrix;
  return (same_key || same_job) && same_change(newer, older) && newer.attempt > older.attempt;
}

Result<void> check_same_use(const KeyUse& before, const RunHead& head, const Upload& upload) {
  const auto reused = [&](std::string_view what) {
    return fail(ErrorCode::key_reused,
                fmt::format("Idempotency-Key: run {} was sent with the same key and {}", before.run, what));
  };
  if (before.sha256 != upload.sha256) return reused("another body");
  if (before.commit != head.commit)
    return reused(fmt::format("another commit ({}, now {})", before.commit, head.commit));
  if (before.workload != head.workload)
    return reused(fmt::format("another workload ({}, now {})", before.workload, head.workload));
  if (before.rank != upload.rank) return reused(fmt::format("another rank ({}, now {})", before.rank, upload.rank));
  return {};
}

Result<void> check_coming(const std::optional<KeyUse>& before, const RunRecord* run, const RunHead& head,
                          const Upload& upload) {
  if (before) return check_same_use(*before, head, upload);
  if (run == nullptr) return {};
  const auto joining = joining_of(*run, head, upload);
  return joining ? Result<void>{} : tl::unexpected(joining.error());
}

std::string text_of_ranks(const std::vector<std::int64_t>& ranks) { return fmt::format("{}", fmt::join(ranks, ",")); }

std::vector<std::int64_t> ranks_of_text(std::string_view text) {
  std::vector<std::int64_t> ranks;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    std::int64_t rank = 0;
    if (std::from_chars(one.data(), one.data() + one.size(), rank).ec == std::errc{}) ranks.push_back(rank);
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return ranks;
}

std::string group_of(const RunHead& head) {
  const bool in_ci = !head.ci_run.empty() && head.ranks_expected > 0;
  if (head.run_key.empty() && !in_ci) return {};
  const std::string attempt = std::to_string(head.attempt);
  std::vector<std::string> names =
      head.run_key.empty()
          ? std::vector<std::string>{"ci", head.workload, head.commit, attempt, head.ci_run, head.job, head.matrix}
          : std::vector<std::string>{"run_key", head.workload, head.commit, attempt, head.run_key};
  if (is_change(head)) names.insert(names.end(), {"change", text_of(head.pull_request), head.fork ? "fork" : ""});
  return hash::sha256_hex(joined(names));
}

Result<Joining> joining_of(const RunRecord& run, const RunHead& head, const Upload& upload) {
  const Upload* holder = holder_of(run, upload.rank);
  if (holder != nullptr && holder->rank == upload.rank && holder->sha256 == upload.sha256) return Joining::seen_before;
  if (run.status != RunStatus::pending || run.closed)
    return fail(ErrorCode::conflict, fmt::format("rank {} comes too late: run {} waits for no further rank; {}",
                                                 upload.rank, run.head.id, another_run));
  TRACEWEIR_TRY_VOID(check_agreement(run, head));
  if (const auto obstacle = obstacle_of(run, upload.rank, 1)) return tl::unexpected(*obstacle);
  return Joining::add;
}

std::optional<Error> obstacle_of(const RunRecord& run, std::int64_t rank, std::int64_t ranks) {
  const std::int64_t expected = run.head.ranks_expected;
  if (expected > 0 && ranks > expected - rank)
    return Error{ErrorCode::bad_query,
                 ranks == 1 ? fmt::format("rank: {} is none of the {} ranks of run {}, which are counted from 0", rank,
                                          expected, run.head.id)
                            : fmt::format("rank: the file holds {} ranks from {} on, and run {} has {}, counted from 0",
                                          ranks, rank, run.head.id, expected)};
  for (const Upload& other : run.uploads) {
    const std::int64_t slot = std::max(rank, other.rank);
    if (slot >= rank + ranks || !holds(other, slot)) continue;
    return Error{ErrorCode::conflict, fmt::format("rank {} of run {} was sent already, with other content; {}", slot,
                                                  run.head.id, another_run)};
  }
  return std::nullopt;
}

const Upload* settle(RunRecord& run, const UploadResult& result) {
  const auto upload = std::find_if(run.uploads.begin(), run.uploads.end(), [&](const Upload& one) {
    return one.status == UploadStatus::received && one.rank == result.rank && one.sha256 == result.sha256;
  });
  if (upload == run.uploads.end()) return nullptr;
  RunRecord others = run;
  std::erase_if(others.uploads, [&](const Upload& one) { return one.rank == result.rank; });
  std::optional<Error> error;
  if (result.ranks > 0) error = obstacle_of(others, result.rank, result.ranks);
  if (result.ranks > 0 && !error) error = twice_stated(others, result);
  upload->status = result.ranks > 0 && !error ? UploadStatus::whole : UploadStatus::rejected;
  upload->ranks = upload->status == UploadStatus::whole ? result.ranks : 0;
  upload->stated = upload->status == UploadStatus::whole ? result.stated : std::vector<std::int64_t>{};
  upload->error_code = error ? std::string(word(error->code)) : result.error_code;
  upload->error_message = error ? error->message : result.error_message;
  return &*upload;
}

bool is_complete(const RunRecord& run) {
  if (run.closed) return !any_received(run);
  if (run.head.ranks_expected > 0) {
    std::set<std::int64_t> whole;
    for (const Upload& upload : run.uploads)
      if (upload.status == UploadStatus::whole)
        for (std::int64_t i = 0; i < upload.ranks; ++i) whole.insert(upload.rank + i);
    return std::ssize(whole) >= run.head.ranks_expected;
  }
  const bool any_whole = std::any_of(run.uploads.begin(), run.uploads.end(),
                                     [](const Upload& upload) { return upload.status == UploadStatus::whole; });
  return any_whole && !any_received(run);
}

std::vector<std::int64_t> ranks_received(const RunRecord& run) {
  std::set<std::int64_t> ranks;
  for (const Upload& upload : run.uploads)
    for (std::int64_t i = 0; holds(upload, upload.rank + i); ++i) ranks.insert(upload.rank + i);
  return {ranks.begin(), ranks.end()};
}

std::vector<std::int64_t> ranks_missing(const RunRecord& run) {
  std::vector<std::int64_t> missing;
  for (std::int64_t rank = 0; rank < run.head.ranks_expected; ++rank)
    if (holder_of(run, rank) == nullptr) missing.push_back(rank);
  return missing;
}

}  // namespace traceweir::store
