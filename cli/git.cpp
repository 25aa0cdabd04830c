#include "cli/git.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>

extern char** environ;  // NOLINT: POSIX's own name

namespace traceweir::cli {
namespace {

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

}  // namespace

std::optional<std::string> git(const std::vector<std::string>& arguments) {
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
  const int failed = posix_spawnp(&child, "git", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  std::string text = read_all(pipe_ends[0]);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

GitFacts git_facts() {
  GitFacts facts;
  facts.commit = git({"rev-parse", "--verify", "HEAD"}).value_or("");
  facts.branch = git({"symbolic-ref", "--short", "-q", "HEAD"}).value_or("");
  std::istringstream parents(git({"log", "-1", "--format=%P"}).value_or(""));
  for (std::string parent; parents >> parent;) facts.parents.push_back(parent);
  return facts;
}

}  // namespace traceweir::cli
