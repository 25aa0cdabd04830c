// For: the table of commands. Adding a command is a file of this room and a row in commands.cpp.
// Exit codes: 0 done (pass, warn), 1 a failing verdict, 2 usage, configuration or refused, 3 inconclusive or a refused
// trace, 4 the service cannot be reached.
// Not for: what a command does.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace CLI {
class App;
}

namespace traceweir::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_inconclusive = 3;
inline constexpr int exit_unreachable = 4;

/// What a parsed command does. Returns the exit code; prints its own errors.
using Action = std::function<int()>;

struct Command {
  std::string_view name;
  std::string_view summary;
  /// Declares options on `app` and returns what to do once they are parsed.
  Action (*declare)(CLI::App& app);
};
std::span<const Command> commands();

/// The whole program.
int run_commands(int argc, char** argv);

/// Prints `traceweir: word: message` on stderr. Returns the exit code of the error's word.
int say(const Error& error);

/// The one table of error words and exit codes.
int exit_code_of(ErrorCode code);

// one file each
Action declare_analyze(CLI::App& app);
Action declare_compare(CLI::App& app);
Action declare_gate(CLI::App& app);
Action declare_history(CLI::App& app);
Action declare_runs(CLI::App& app);
Action declare_show(CLI::App& app);
Action declare_accept(CLI::App& app);
Action declare_finish(CLI::App& app);
Action declare_changepoints(CLI::App& app);
Action declare_backtest(CLI::App& app);
Action declare_policy(CLI::App& app);
Action declare_replay(CLI::App& app);
Action declare_metrics(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_man(CLI::App& app);

}  // namespace traceweir::cli
