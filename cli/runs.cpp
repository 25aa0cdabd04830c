#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "analyzer/core/text.hpp"
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/print_run.hpp"
#include "cli/terminal.hpp"
#include "server/wire/listing.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

struct RunsOptions {
  ConnectionOptions connection;
  std::string branch, commit, workload, environment, outcome;
  std::int64_t limit = 20;
  bool json = false;
  std::string run;
};

std::string outcome_of(const wire::RunAnswer& run) {
  return run.verdict ? std::string(gate::word(run.verdict->verdict.outcome)) : run.status;
}

std::string why_of(const wire::RunAnswer& run) {
  if (run.verdict) return run.verdict->verdict.summary;
  if (run.error) return run.error->message;
  return run.ranks && run.status == "pending" ? ranks_text(*run.ranks) : "";
}

void print_rows(const wire::RunPage& page) {
  if (page.runs.empty()) return fmt::print("no such runs\n");
  fmt::print("{:<36}  {:<12}  {:<16}  {:<16}  {:<12}  {}\n", "run", "commit", "branch", "workload", "outcome", "why");
  for (const wire::RunAnswer& run : page.runs) {
    const std::string why = why_of(run);
    fmt::print("{:<36}  {:<12}  {:<16}  {:<16}  {:<12}  {}\n", run.id, run.commit.substr(0, 12),
               clean_text(run.branch, 32), run.workload, outcome_of(run), why);
  }
}

OutputForm form_of(const RunsOptions& options) { return options.json ? OutputForm::json : OutputForm::text; }

int list(const RunsOptions& options) {
  PathWithQuery path(fmt::format("/api/v1/projects/{}/runs", wire::percent_encoded(options.connection.project)));
  path.add("branch", options.branch);
  path.add("commit", options.commit);
  path.add("workload", options.workload);
  path.add("environment", options.environment);
  path.add("outcome", options.outcome);
  path.add("limit", std::to_string(options.limit));
  return ask(options.connection, path.text(), form_of(options), [](const Client&, const std::string& body) {
    const auto page = wire::runs_from_json(body);
    if (!page) return say(page.error());
    print_rows(*page);
    return exit_done;
  });
}

int show(const RunsOptions& options) {
  const std::string path =
      wire::run_path(wire::percent_encoded(options.connection.project), wire::percent_encoded(options.run));
  return ask(options.connection, path, form_of(options), [](const Client& client, const std::string& body) {
    const auto run = wire::run_from_json(body);
    if (!run) return say(run.error());
    fmt::print("{}", run_table(*run, {paint_of_stdout(), width_of_stdout(), client.address_of("")}));
    const auto report = wire::report_in(body);
    if (report) fmt::print("\n{}", report::to_table(*report, paint_of_stdout()));
    return exit_done;
  });
}

}  // namespace

Action declare_runs(CLI::App& app) {
  const auto options = std::make_shared<RunsOptions>();
  add_connection_options(app, options->connection);
  app.add_option("--branch", options->branch, "only runs of this branch");
  app.add_option("--commit", options->commit, "only runs of this commit; its first 7 digits are enough");
  app.add_option("--workload", options->workload, "only runs of this workload");
  app.add_option("--environment", options->environment,
                 "only runs of this environment class, as history --json shows it");
  app.add_option("--outcome", options->outcome, "pass, warn, fail or inconclusive");
  app.add_option("--limit", options->limit, "at most this many")->check(CLI::Range(1, 200))->capture_default_str();
  app.add_flag("--json", options->json, "as the service answers");
  app.footer("Example:\n  traceweir runs --project llama --branch main --outcome fail");
  return [options] { return list(*options); };
}

Action declare_show(CLI::App& app) {
  const auto options = std::make_shared<RunsOptions>();
  app.add_option("RUN", options->run, "id of the run")->required();
  add_connection_options(app, options->connection);
  app.add_flag("--json", options->json, "as the service answers");
  app.footer("Example:\n  traceweir show 01970000-0000-7000-8000-000000000000 --project llama");
  return [options] { return show(*options); };
}

}  // namespace traceweir::cli
