#include "cli/git.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <sstream>

#include "analyzer/core/text.hpp"
#include "cli/child_environment.hpp"

namespace traceweir::cli {
namespace {

/// A commit may carry any time; what lies after the year 9999 cannot be written down.
constexpr std::int64_t time_max_s = 253'402'300'799;

/// Reads a descriptor to its end and closes it.
std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = ::read(descriptor, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  ::close(descriptor);
  return text;
}

/// The parts of a text between separators.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

/// Subjects are for people; a long one only makes the request long.
constexpr std::size_t subject_bytes_max = 200;

/// Shape of `line`: id, parents, seconds since 1970, author, subject, each ended by 0x1f.
std::optional<wire::CommitRow> commit_in(const std::string& line) {
  const std::vector<std::string> parts = parts_of(line, '\x1f');
  if (parts.size() < 4 || !wire::is_commit(parts[0])) return std::nullopt;
  wire::CommitRow commit;
  commit.sha = parts[0];
  commit.parents = parts_of(parts[1], ' ');
  if (commit.parents.size() > wire::parents_max) commit.parents.resize(wire::parents_max);
  std::int64_t seconds = 0;
  const char* end = parts[2].data() + parts[2].size();
  if (std::from_chars(parts[2].data(), end, seconds).ptr == end && seconds > 0 && seconds < time_max_s)
    commit.committed_at = wire::Timestamp{std::chrono::seconds{seconds}};
  commit.author = clean_text(parts[3], subject_bytes_max);
  commit.subject = parts.size() < 5 ? "" : clean_text(parts[4], subject_bytes_max);
  return commit;
}

}  // namespace

std::optional<std::string> git_output(const std::vector<std::string>& arguments) {
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> words = {"git"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  auto environment = ChildEnvironment::of_process();
  const int failed = posix_spawnp(&child, "git", &actions, nullptr, argv.data(), environment.pointers());
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  std::string text = read_all(pipe_ends[0]);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return text;
}

std::optional<std::string> git(const std::vector<std::string>& arguments) {
  auto text = git_output(arguments);
  while (text && text->ends_with('\n')) text->pop_back();
  return text;
}

std::vector<std::string> parents_in(const std::string& commit) {
  std::vector<std::string> parents;
  constexpr std::string_view word = "parent ";
  for (const std::string& line : parts_of(commit, '\n')) {
    if (line.empty()) break;  // the message begins
    if (line.starts_with(word) && wire::is_commit(line.substr(word.size())) && parents.size() < wire::parents_max)
      parents.push_back(line.substr(word.size()));
  }
  return parents;
}

std::vector<wire::CommitRow> git_ancestry(const std::string& commit, std::size_t commits_max) {
  std::vector<wire::CommitRow> commits;
  if (!wire::is_commit(commit)) return commits;
  const auto log = git({"log", "--first-parent", "--no-show-signature", "-n", std::to_string(commits_max),
                        "--format=%H%x1f%P%x1f%ct%x1f%an%x1f%s", commit, "--"});
  if (!log) return commits;
  for (const std::string& line : parts_of(*log, '\n'))
    if (auto row = commit_in(line)) commits.push_back(*std::move(row));
  // git hides the parents of the commit at which a shallow clone ends; the commit itself has them.
  if (!commits.empty() && commits.back().parents.empty())
    commits.back().parents = parents_in(git({"cat-file", "commit", commits.back().sha}).value_or(""));
  return commits;
}

}  // namespace traceweir::cli
