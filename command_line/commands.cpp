#include "command_line/commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

namespace traceweir::command_line {
namespace {

const CLI::App& root_of(const CLI::App& app) { return app.get_parent() == nullptr ? app : root_of(*app.get_parent()); }

}  // namespace

Task declare_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  const std::string program = root_of(app).get_name();
  app.footer(fmt::format(R"(Examples:
  {0} completion bash > ~/.local/share/bash-completion/completions/{0}
  {0} completion zsh > ~/.zfunc/_{0}
  {0} completion fish > ~/.config/fish/completions/{0}.fish

The folder of zsh must be in its fpath before compinit runs.)",
                         program));
  return [shell, program]() -> Result<void> {
    TRACEWEIR_TRY(script, completion_script(*shell, program));
    fmt::print("{}", script);
    return {};
  };
}

Task declare_man(CLI::App& app, const Manual& manual) {
  const auto folder = std::make_shared<std::string>();
  app.add_option("--folder", *folder, "writes the page of every command there (default: this program's, to stdout)")
      ->type_name("FOLDER");
  app.footer(fmt::format("Examples:\n  {0} man | man -l -\n  {0} man --folder ~/.local/share/man/man{1}",
                         manual.program, manual.section));
  return [folder, manual, &app]() -> Result<void> {
    if (!folder->empty()) return write_man_pages(shape_of(root_of(app)), manual, *folder);
    fmt::print("{}", man_pages(shape_of(root_of(app)), manual).front().text);
    return {};
  };
}

Asked answer_completion(const CLI::App& root, int argc, char** argv, const Values& values) {
  if (argc < 2 || argv[1] != completion_word) return Asked::no;
  const std::vector<std::string> words(argv + 2, argv + argc);
  fmt::print("{}", to_lines(candidates(shape_of(root), words, values)));
  return Asked::yes;
}

}  // namespace traceweir::command_line
