#include "cli/confirmation.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "cli/child_environment.hpp"

namespace traceweir::cli {
namespace {

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
  std::vector<std::string> words = {"sh", "-c", command};
  const std::vector<char*> argv = pointers_to(words);
  // What runs here is the code under test.
  auto environment = ChildEnvironment::of_process({fmt::format("TRACEWEIR_CONFIRMATION={}", number)});
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // stdout is the verdict's alone
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/bin/sh", &actions, nullptr, argv.data(), environment.pointers());
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
