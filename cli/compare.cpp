#include <fmt/format.h>
#include <glob.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/core/text.hpp"
#include "analyzer/core/uuid.hpp"
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/reading.hpp"
#include "gate/diff.hpp"
#include "server/wire/diff.hpp"
#include "server/wire/explanation_text.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

struct CompareOptions {
  std::string base, head;
  ConnectionOptions connection;
  ReadingOptions reading;
  std::optional<double> gpu_hour;
  bool json = false, markdown = false;
};

/// One side, read.
struct Side {
  wire::DiffSide facts;
  report::Report report;
};

/// A file of that name wins: nobody names a file like a run by chance.
bool is_run(const std::string& text) {
  std::error_code ignored;
  return time_of_uuid_v7(text) && !std::filesystem::exists(text, ignored);
}

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// The files that a pattern matches, by name.
/// Errors: usage (none).
Result<std::vector<std::string>> matched_files(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (status == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  if (files.empty()) return fail(ErrorCode::usage, fmt::format("{}: no file has such a name", clean_text(pattern)));
  return files;
}

/// A file, a folder, or the ranks that a pattern names.
Result<Side> side_of_files(const std::string& text, const CompareOptions& options) {
  std::vector<std::string> files{text};
  std::error_code ignored;
  const bool exists = text == stdin_word || std::filesystem::exists(text, ignored);
  if (!exists && is_pattern(text)) {
    TRACEWEIR_TRY(matched, matched_files(text));
    files = std::move(matched);
  } else if (!exists) {
    return fail(ErrorCode::usage,
                fmt::format("{}: there is no such file, nor is it the id of a run", clean_text(text)));
  }
  auto report = analyze_files(files, options.reading, Hashing::none);
  if (!report) return fail(report.error().code, fmt::format("{}: {}", clean_text(text), report.error().message));
  return Side{{.run = {}, .commit = {}, .branch = {}, .workload = {}, .name = clean_text(text)}, *std::move(report)};
}

/// The report of a run of the service.
Result<Side> side_of_run(const std::string& id, const CompareOptions& options) {
  TRACEWEIR_TRY(client, connect(options.connection));
  TRACEWEIR_TRY(body, client.get(wire::run_path(wire::percent_encoded(options.connection.project), id)));
  TRACEWEIR_TRY(run, wire::run_from_json(body));
  TRACEWEIR_TRY(report, wire::report_in(body));
  return Side{{run.id, run.commit, run.branch, run.workload, {}}, std::move(report)};
}

Result<Side> side_of(const std::string& text, const CompareOptions& options) {
  return is_run(text) ? side_of_run(text, options) : side_of_files(text, options);
}

void print(const wire::DiffDocument& document, const CompareOptions& options) {
  if (options.json)
    fmt::print("{}\n", wire::to_json(document));
  else
    fmt::print("{}", options.markdown ? wire::to_markdown(document) : wire::to_text(document));
}

/// Two runs of the service, which knows the price of the project's policy.
int compare_runs(const CompareOptions& options) {
  PathWithQuery path(fmt::format("/api/v1/projects/{}/compare", wire::percent_encoded(options.connection.project)));
  path.add("base", options.base);
  path.add("head", options.head);
  const OutputForm form = options.json ? OutputForm::json : OutputForm::text;
  return ask(options.connection, path.text(), form, [&options](const Client&, const std::string& body) {
    const auto document = wire::diff_from_json(body);
    if (!document) return say(document.error());
    print(*document, options);
    return exit_done;
  });
}

/// A trace that is refused exits by 3, as in analyze.
int refuse(const Error& error) {
  const int code = say(error);
  const bool of_trace = error.code == ErrorCode::bad_body || error.code == ErrorCode::io_failed;
  return of_trace ? exit_inconclusive : code;
}

int run(const CompareOptions& options) {
  if (!options.gpu_hour && is_run(options.base) && is_run(options.head)) return compare_runs(options);
  auto base = side_of(options.base, options);
  if (!base) return refuse(base.error());
  auto head = side_of(options.head, options);
  if (!head) return refuse(head.error());
  print({std::move(base->facts), std::move(head->facts), gate::diff_of(base->report, head->report, options.gpu_hour)},
        options);
  return exit_done;
}

}  // namespace

Action declare_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareOptions>();
  const char* what =
      "a trace or report of any kind that analyze reads; a folder, or a quoted pattern, for the ranks of one run; or "
      "the "
      "id of a run of the service";
  app.add_option("BASE", options->base, fmt::format("what is compared with: {}", what))->required();
  app.add_option("HEAD", options->head, "what is compared: the same")->required();
  add_connection_options(app, options->connection);
  add_reading_options(app, options->reading);
  app.add_option("--gpu-hour", options->gpu_hour,
                 "price of an hour of one GPU: says what waiting costs (default: the project's, for two runs)")
      ->check(CLI::PositiveNumber);
  auto* json = app.add_flag("--json", options->json, "as JSON (traceweir.diff/1)");
  app.add_flag("--markdown", options->markdown, "as Markdown, for a job summary")->excludes(json);
  app.footer(R"(Examples:
  traceweir compare before.json.gz after.json.gz
  traceweir compare before.sqlite after.sqlite --steps 'train_step*' --json
  traceweir compare 'main/rank*.json.gz' 'branch/rank*.json.gz'      patterns in quotes: all ranks of one run
  traceweir compare main/ branch/ --gpu-hour 2.5
  traceweir compare 01970000-0000-7000-8000-000000000000 01970000-0000-7000-8000-000000000001 --project llama

How to read it: docs/explain.md. Exit codes: 0 compared, 2 usage, or refused by the service, 3 a trace is refused, 4 the
service cannot be reached.)");
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
