#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/ci_reading.hpp"
#include "cli/git.hpp"
#include "server/wire/commit_list.hpp"

namespace traceweir::cli {
namespace {

namespace fs = std::filesystem;

std::string short_id(const std::string& commit) { return commit.substr(0, 12); }

bool has_commit(const CiReading& in, const std::string& commit) {
  return wire::is_commit(commit) && in.git({"cat-file", "-e", commit + "^{commit}"}).has_value();
}

bool is_shallow(const CiReading& in) { return in.git({"rev-parse", "--is-shallow-repository"}) == "true"; }

/// A repository of another user is there, and git does not read it: nothing else of it says why.
bool git_refuses_it() {
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !error && !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return true;
    if (folder == folder.root_path()) break;
  }
  return false;
}

void read_head(CiReading& in, const std::string& head) {
  in.offer(Fact::commit, head, "git rev-parse HEAD");
  if (in.found.text(Fact::commit) != head) return;  // HEAD is not what is measured: its branch says nothing
  if (const auto branch = in.git({"symbolic-ref", "--short", "-q", "HEAD"}))
    in.offer(Fact::branch, *branch, "git symbolic-ref HEAD");
}

/// The branch that others are merged into: what the remote calls its HEAD, else a usual name.
void offer_default_branch(CiReading& in) {
  constexpr std::string_view prefix = "refs/remotes/origin/";
  const std::string head = in.git({"symbolic-ref", "-q", "refs/remotes/origin/HEAD"}).value_or("");
  if (head.starts_with(prefix)) in.offer(Fact::base_branch, head.substr(prefix.size()), "git: HEAD of origin");
  for (const char* const name : {"main", "master"})
    if (!in.knows(Fact::base_branch) && !ref_of_branch(in, name).empty())
      in.offer(Fact::base_branch, name, "git: there is a branch of that name");
}

/// Why there is no merge base, and what to change.
void note_no_base(CiReading& in, const std::string& commit, const std::string& ref, std::string_view deepen) {
  const std::string branch = in.found.text(Fact::base_branch);
  const std::string effect = "so the run is compared with the newest runs of its base branch";
  if (!has_commit(in, commit))
    in.note(fmt::format("this clone does not have commit {}, {}; {} (fetch-depth), or run git fetch origin {}",
                        short_id(commit), effect, deepen, commit));
  else if (ref.empty())
    in.note(fmt::format("this clone does not have the branch {}, {}; {}, or run git fetch origin {}", branch, effect,
                        deepen, branch));
  else if (is_shallow(in))
    in.note(fmt::format("this clone is shallow and does not reach the merge base with {}, {}; {} (fetch-depth)", branch,
                        effect, deepen));
  else
    in.note(fmt::format("{} and {} have no commit in common", short_id(commit), branch));
}

/// On the base branch itself it is the commit before; elsewhere, where the branch left the base branch. Returns whether
/// nothing is missing.
bool offer_base(CiReading& in, std::string_view deepen) {
  const std::string commit = in.found.text(in.knows(Fact::head) ? Fact::head : Fact::commit);
  const std::string branch = in.found.text(Fact::base_branch);
  const bool on_it = in.found.text(Fact::branch) == branch && !in.knows(Fact::pr) && !in.found.is(Fact::fork);
  if (commit.empty() || branch.empty() || in.knows(Fact::base)) return true;
  if (on_it || in.knows(Fact::tag)) {
    if (!in.found.parents.empty()) in.offer(Fact::base, in.found.parents.front(), "the commit's first parent");
    return true;
  }
  const std::string ref = ref_of_branch(in, branch);
  if (const auto base = merge_base(in, commit, ref)) {
    in.offer(Fact::base, *base, fmt::format("git merge-base {} {}", short_id(commit), ref));
    return true;
  }
  note_no_base(in, commit, ref, deepen);
  return false;
}

void note_shallow(CiReading& in, std::string_view deepen) {
  if (!is_shallow(in)) return;
  const std::string count = in.git({"rev-list", "--count", "--first-parent", "HEAD"}).value_or("?");
  in.note(
      fmt::format("this clone is shallow and ends after {} {}; where the baseline lies further back, fetch more of "
                  "the history: {} (fetch-depth)",
                  count, count == "1" ? "commit" : "commits", deepen));
}

}  // namespace

std::optional<std::string> merge_base(const CiReading& in, const std::string& commit, const std::string& ref) {
  if (ref.empty() || !has_commit(in, commit)) return std::nullopt;
  auto base = in.git({"merge-base", commit, ref});
  if (!base || !wire::is_commit(*base)) return std::nullopt;
  return base;
}

std::string ref_of_branch(const CiReading& in, const std::string& branch) {
  if (branch.empty() || branch.starts_with('-')) return "";
  for (const char* const place : {"refs/remotes/origin/", "refs/remotes/upstream/", "refs/heads/"})
    if (in.git({"rev-parse", "--verify", "-q", place + branch})) return place + branch;
  return "";
}

std::vector<std::string> real_parents(const CiReading& in, const std::string& commit) {
  if (!wire::is_commit(commit)) return {};
  return parents_in(in.git({"cat-file", "commit", commit}).value_or(""));
}

void read_git(CiReading& in, std::string_view deepen) {
  const auto head = in.git({"rev-parse", "--verify", "-q", "HEAD"});
  if (head) read_head(in, *head);
  if (in.found.ci.empty()) {
    in.found.ci = head ? "git" : "none";
    in.found.ci_source = head ? "no CI's variables, but a work tree" : "neither a CI's variables nor a work tree";
  }
  if (!head && git_refuses_it())
    in.note(
        "there is a repository here that git does not read; where it belongs to another user, run git config "
        "--global --add safe.directory \"$PWD\"");
  if (in.knows(Fact::tag)) in.offer(Fact::branch, in.found.text(Fact::tag), in.found.source(Fact::tag));
  if (head) offer_default_branch(in);
  in.found.parents = real_parents(in, in.found.text(Fact::commit));
  const bool reached = offer_base(in, deepen);
  if (head && reached) note_shallow(in, deepen);
}

}  // namespace traceweir::cli
