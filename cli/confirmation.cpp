#include "cli/confirmation.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

extern char** environ;  // NOLINT: POSIX's own name

namespace traceweir::cli {
namespace {

constexpr std::string_view variable = "TRACEWEIR_CONFIRMATION";

/// Our own environment with the number of the run in it.
std::vector<std::string> environment_of(std::int64_t number) {
  std::vector<std::string> items = {fmt::format("{}={}", variable, number)};
  for (char** item = environ; *item != nullptr; ++item) {
    const std::string_view text = *item;
    if (text.substr(0, text.find('=')) != variable) items.emplace_back(text);
  }
  return items;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::int64_t runs_wanted(const gate::Verdict& verdict) {
  std::int64_t wanted = 0;
  for (const gate::RuleResult& rule : verdict.rules)
    if (rule.reason == gate::Reason::needs_confirmation)
      wanted = std::max(wanted, rule.confirm_want - rule.confirm_have);
  return wanted;
}

Result<void> profile_again(const std::string& command, std::int64_t number) {
  std::vector<std::string> words = {"sh", "-c", command}, items = environment_of(number);
  const std::vector<char*> argv = pointers_to(words), envp = pointers_to(items);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // stdout is the verdict's alone
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/bin/sh", &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return fail(ErrorCode::usage, "--confirm-with: /bin/sh cannot be started");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(ErrorCode::usage, "--confirm-with: the command's end was not seen");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::usage,
              WIFEXITED(status)
                  ? fmt::format("--confirm-with: the command ended with exit code {}", WEXITSTATUS(status))
                  : fmt::format("--confirm-with: the command was ended by signal {}", WTERMSIG(status)));
}

}  // namespace traceweir::cli
