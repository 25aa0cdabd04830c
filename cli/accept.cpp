#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "server/wire/acceptance.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

struct AcceptOptions {
  ConnectionOptions connection;
  std::string run, reason, author, until;
  std::vector<std::string> metrics;
  bool all = false, undo = false, json = false;
};

std::string path_of(const AcceptOptions& options) {
  return wire::run_path(wire::percent_encoded(options.connection.project), wire::percent_encoded(options.run));
}

/// The body of an answer that went well. Errors: the service's.
Result<std::string> send(const Client& client, const std::string& method, const AcceptOptions& options,
                         const std::string& body) {
  ClientRequest request;
  request.method = method;
  request.path = path_of(options) + "/accept";
  request.headers = {{"Content-Type", "application/json"}};
  request.text = body;
  TRACEWEIR_TRY(answer, client.send(request));
  if (answer.status >= 300) return tl::unexpected(error_of(answer));
  return answer.body;
}

/// The metrics whose rules fail in the run's verdict.
Result<std::vector<std::string>> failing_metrics(const Client& client, const AcceptOptions& options) {
  TRACEWEIR_TRY(body, client.get(path_of(options)));
  TRACEWEIR_TRY(run, wire::run_from_json(body));
  std::vector<std::string> metrics;
  if (run.verdict)
    for (const gate::RuleResult& rule : run.verdict->verdict.rules)
      if (rule.outcome == gate::Outcome::fail && !rule.metric.starts_with("finding:") &&
          std::find(metrics.begin(), metrics.end(), rule.metric) == metrics.end())
        metrics.push_back(rule.metric);
  if (metrics.empty())
    return fail(ErrorCode::usage, "no metric fails in this run: say --metric ID, or --all, to accept its level anyway");
  return metrics;
}

Result<wire::AcceptanceRequest> request_of(const Client& client, const AcceptOptions& options) {
  wire::AcceptanceRequest request;
  request.every_metric = options.all;
  request.metrics = options.metrics;
  request.reason = options.reason;
  if (!options.author.empty()) request.author = options.author;
  if (!options.until.empty()) {
    request.until = wire::from_rfc3339(options.until);
    if (!request.until) return fail(ErrorCode::usage, "--until: a date such as 2026-12-31 was expected");
  }
  if (!options.all && options.metrics.empty()) {
    TRACEWEIR_TRY(failing, failing_metrics(client, options));
    request.metrics = std::move(failing);
  }
  return request;
}

void print(const wire::AcceptanceDocument& acceptance) {
  const std::string what =
      acceptance.every_metric ? "every metric" : fmt::format("{}", fmt::join(acceptance.metrics, ", "));
  const std::string until =
      acceptance.until ? fmt::format(", until {}", wire::to_rfc3339(*acceptance.until)) : std::string();
  fmt::print("accepted: {} of run {} (commit {}){}\n", what, acceptance.run, acceptance.commit.substr(0, 12), until);
  fmt::print("From this run on its level is the baseline; `traceweir accept {} --undo` takes it back.\n",
             acceptance.run);
}

int undo(const Client& client, const AcceptOptions& options) {
  const auto done = send(client, "DELETE", options, "");
  if (!done) return say(done.error());
  if (options.json)
    fmt::print("{{\"run\":\"{}\",\"undone\":true}}\n", options.run);
  else
    fmt::print("undone: what was accepted of run {} counts no more, and its alarm is raised again\n", options.run);
  return exit_done;
}

int accept(const Client& client, const AcceptOptions& options) {
  if (options.reason.empty())
    return say(Error{ErrorCode::usage, "why is it accepted? Give --reason TEXT; it is kept for ever"});
  const auto request = request_of(client, options);
  if (!request) return say(request.error());
  const auto body = send(client, "POST", options, wire::to_json(*request));
  if (!body) return say(body.error());
  if (options.json) {
    fmt::print("{}\n", *body);
    return exit_done;
  }
  const auto acceptance = wire::acceptance_from_json(*body);
  if (!acceptance) return say(acceptance.error());
  print(*acceptance);
  return exit_done;
}

int run(const AcceptOptions& options) {
  const auto client = connect(options.connection);
  if (!client) return say(client.error());
  return options.undo ? undo(*client, options) : accept(*client, options);
}

}  // namespace

Action declare_accept(CLI::App& app) {
  const auto options = std::make_shared<AcceptOptions>();
  app.add_option("RUN", options->run, "id of the run whose level is accepted")->required();
  add_connection_options(app, options->connection);
  app.add_option("--reason", options->reason, "why; kept for ever")->type_name("TEXT");
  auto* metric = app.add_option("--metric", options->metrics, "a metric; repeat it for more (default: those that fail)")
                     ->type_name("ID");
  auto* all = app.add_flag("--all", options->all, "every metric of the run")->excludes(metric);
  app.add_option("--until", options->until, "the alarm is raised again from this date on")->type_name("DATE");
  app.add_option("--author", options->author, "who accepts it (default: the token's note)")->type_name("NAME");
  app.add_flag("--undo", options->undo, "takes back what is accepted of the run")->excludes(metric)->excludes(all);
  app.add_flag("--json", options->json, "as the service answers");
  app.footer(R"(Examples:
  traceweir accept 01970000-0000-7000-8000-000000000000 --project llama --reason "larger batch, tracked in #812"
  traceweir accept 01970000-0000-7000-8000-000000000000 --project llama --metric step.time_p50 --until 2026-12-31 --reason "until the new driver"
  traceweir accept 01970000-0000-7000-8000-000000000000 --project llama --undo

Needs a token with the scope admin. From the run on its level is the baseline of these metrics; it and later runs of that
level count. Undone, or at its end, the old level is back.)");
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
