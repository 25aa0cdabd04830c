#include "analyzer/core/version.hpp"
#include "cli/command.hpp"
#include "command_line/commands.hpp"

namespace traceweir::cli {
namespace {

Action exiting_by(command_line::Task task) {
  return [task = std::move(task)] {
    const auto done = task();
    return done ? exit_done : say(done.error());
  };
}

}  // namespace

Action declare_completion(CLI::App& app) { return exiting_by(command_line::declare_completion(app)); }

Action declare_man(CLI::App& app) {
  return exiting_by(command_line::declare_man(app, {"traceweir", "1", std::string(version)}));
}

}  // namespace traceweir::cli
