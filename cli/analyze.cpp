#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/core/text.hpp"
#include "cli/command.hpp"
#include "cli/reading.hpp"
#include "cli/terminal.hpp"
#include "sandbox/fork_server.hpp"
#include "server/wire/json.hpp"

namespace traceweir::cli {
namespace {

struct AnalyzeOptions {
  std::vector<std::string> files;
  ReadingOptions reading;
  bool json = false, markdown = false, hash = false, child = false, fork_server = false;
  std::optional<sandbox::Lock> lock;  ///< of a child that was forked: made before
};

/// The contract with the service, whose child this is: one line on stdout that names the error.
void print_error_line(const Error& error) {
  const wire::Json json = {{"error", {{"code", word(error.code)}, {"message", error.message}}}};
  fmt::print("{}\n", wire::dump(json));
}

/// A trace that is refused exits by 3, whatever the reason; wrong options exit by 2.
int refuse(const AnalyzeOptions& options, const Error& error) {
  if (options.json) print_error_line(error);
  const bool one = options.files.size() == 1;
  const std::string name = one ? std::filesystem::path(options.files.front()).filename().string() + ": " : "";
  const int code = say(Error{error.code, clean_text(name) + error.message});
  return code == exit_usage && error.code != ErrorCode::usage ? exit_inconclusive : code;
}

Result<report::Report> analyze(const AnalyzeOptions& options) {
  if (options.child && options.lock) return analyze_as_child(options.files.size(), options.reading, *options.lock);
  if (options.child) return analyze_as_child(options.files.size(), options.reading, sandbox::Lock());
  return analyze_files(options.files, options.reading, options.hash ? Hashing::sha256 : Hashing::none);
}

int run(const AnalyzeOptions& options) {
  const auto report = analyze(options);
  if (!report) return refuse(options, report.error());
  if (options.json)
    fmt::print("{}\n", report::to_json(*report));
  else if (options.markdown)
    fmt::print("{}", report::to_markdown(*report));
  else
    fmt::print("{}", report::to_table(*report, paint_of_stdout()));
  return exit_done;
}

/// A child ends here and now: nothing that runs at a normal exit is needed, nor would it find what it looks for in the
/// sandbox (a leak checker wants to trace its own process).
int run_or_end(const AnalyzeOptions& options) {
  const int code = run(options);
  if (!options.child) return code;
  std::fflush(stdout);
  std::fflush(stderr);
  std::_Exit(code);
}

/// An existing file or folder, or stdin.
std::string no_input(const std::string& file) { return file == stdin_word ? "" : CLI::ExistingPath(file); }

void declare(CLI::App& app, AnalyzeOptions* options) {
  app.add_option("FILE", options->files,
                 "nsys SQLite export or report, output of nsys stats, Kineto JSON (plain, gzip or zstd), metrics of "
                 "your own, or a report of ours; several files are ranks of one run, a folder stands for its files; -: "
                 "stdin")
      ->required()
      ->check(&no_input);
  add_reading_options(app, options->reading);
  auto* json = app.add_flag("--json", options->json, "the report as JSON (traceweir.report/1)");
  app.add_flag("--markdown", options->markdown, "the report as Markdown")->excludes(json);
  app.add_flag("--hash", options->hash, "also hash the files (trace.sha256); costs about as much as the analysis");
  // How the service runs its analysing child; no word of the help, since it needs descriptors that a shell lacks.
  app.add_flag("--child", options->child)->group("");
  app.add_flag("--fork-server", options->fork_server)->group("");
  app.footer(R"(Examples:
  traceweir analyze trace.json.gz
  traceweir analyze report.sqlite --steps 'train_step*' --skip 2
  traceweir analyze rank0.json rank1.json --json > report.json
  curl -s $URL | traceweir analyze -
  traceweir analyze report.nsys-rep --nsys /opt/nvidia/nsight-systems/2026.1/bin/nsys
  nsys stats -f csv -o stats/run report.nsys-rep && traceweir analyze stats

Exit codes: 0 measured, 2 usage, 3 the trace is refused.)");
}

/// One start for many children: what each of them would make anew is made before they are forked.
[[noreturn]] void serve_children() {
  AnalyzeOptions options;
  CLI::App app;
  declare(app, &options);
  options.lock.emplace();
  std::vector<std::string> words = sandbox::serve_forks().words;
  // From here on this is a child, with a command line of its own.
  std::reverse(words.begin(), words.end());  // as the parser wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    std::_Exit(exit_usage);
  }
  options.child = true;  // whatever was asked for: nothing is done here that is not locked in
  std::_Exit(run_or_end(options));
}

}  // namespace

Action declare_analyze(CLI::App& app) {
  const auto options = std::make_shared<AnalyzeOptions>();
  declare(app, options.get());
  return [options] {
    if (options->fork_server) serve_children();
    return run_or_end(*options);
  };
}

}  // namespace traceweir::cli
