// For: the commands `completion` and `man`, which both programs have, and the question that completion scripts ask.
// Not for: what scripts and pages say (completion.hpp, man_page.hpp).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analyzer/core/error.hpp"
#include "command_line/completion.hpp"
#include "command_line/man_page.hpp"

namespace traceweir::command_line {

/// What a parsed command does. Errors: of what it does; the program prints them.
using Task = std::function<Result<void>()>;

/// Declares `completion SHELL` on its own App; the task prints the script on stdout.
Task declare_completion(CLI::App& app);

/// Declares `man [--folder FOLDER]` on its own App: the program's page on stdout, or all pages as files.
Task declare_man(CLI::App& app, const Manual& manual);

/// Answers a completion script: `PROGRAM __complete WORD…`. Whether that is what was asked; if so, it is printed.
enum class Asked { yes, no };
Asked answer_completion(const CLI::App& root, int argc, char** argv, const Values& values);

}  // namespace traceweir::command_line
