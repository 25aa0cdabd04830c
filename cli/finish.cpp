#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/print_run.hpp"
#include "cli/terminal.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

struct Options {
  ConnectionOptions connection;
  std::string run;
  std::int64_t wait = 100;
  bool json = false;
};

/// The body of the answer. Errors: the service's.
Result<std::string> finish(const Client& client, const Options& options) {
  PathWithQuery path(
      wire::run_path(wire::percent_encoded(options.connection.project), wire::percent_encoded(options.run)) +
      "/finish");
  path.add("wait", std::to_string(options.wait));
  ClientRequest request;
  request.method = "POST";
  request.path = path.text();
  TRACEWEIR_TRY(answer, client.send(request));
  if (answer.status >= 300) return tl::unexpected(error_of(answer));
  return answer.body;
}

/// As `gate` ends; a run without a verdict yet is as good as an inconclusive one.
int exit_of(const wire::RunAnswer& run) {
  if (!run.verdict) return exit_inconclusive;
  if (run.verdict->mode == "observe") return exit_done;
  return gate::exit_code(run.verdict->verdict, gate::Strictness::lenient);
}

int run(const Options& options) {
  const auto client = connect(options.connection);
  if (!client) return say(client.error());
  const auto body = finish(*client, options);
  if (!body) return say(body.error());
  const auto run = wire::run_from_json(*body);
  if (!run) return say(run.error());
  if (options.json)
    fmt::print("{}\n", *body);
  else
    fmt::print("{}", run_table(*run, {paint_of_stdout(), width_of_stdout(), client->address_of("")}));
  return exit_of(*run);
}

}  // namespace

Action declare_finish(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("RUN", options->run, "id of the run that waits for ranks")->required();
  add_connection_options(app, options->connection);
  app.add_option("--wait", options->wait, "seconds to wait for the verdict")
      ->check(CLI::Range(0, 600))
      ->capture_default_str();
  app.add_flag("--json", options->json, "as the service answers");
  app.footer(R"(Example:
  traceweir finish 01970000-0000-7000-8000-000000000000 --project llama

The run is judged with the ranks that it has (inconclusive: missing_rank); again is fine. Needs a token with the scope upload.

Exit codes: 0 pass, warn or a baseline still being built; 1 fail; 2 usage, or refused by the service; 3 inconclusive, or no verdict in time; 4 the service
cannot be reached.)");
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
