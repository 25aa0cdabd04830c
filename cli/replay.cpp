#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "analyzer/core/text.hpp"
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "server/wire/replay_document.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

struct ReplayOptions {
  ConnectionOptions connection;
  std::string run;
  bool json = false;
};

std::string outcome_of(const gate::RuleResult* rule) {
  if (rule == nullptr) return "-";
  return fmt::format("{} ({})", rule->outcome ? gate::word(*rule->outcome) : "n/a", gate::word(rule->reason));
}

const gate::RuleResult* find(const std::optional<wire::VerdictDocument>& document, const gate::RuleResult& wanted) {
  if (!document) return nullptr;
  for (const gate::RuleResult& rule : document->verdict.rules)
    if (rule.metric == wanted.metric && rule.against == wanted.against) return &rule;
  return nullptr;
}

void print_rules(const wire::ReplayAnswer& answer) {
  const auto& shown = answer.now ? answer.now : answer.stored;
  if (!shown) return;
  fmt::print("{:<32}  {:<34}  {}\n", "rule", "stored", "judged now");
  for (const gate::RuleResult& rule : shown->verdict.rules) {
    const std::string name = rule.against.empty() ? rule.metric : fmt::format("{} since {}", rule.metric, rule.against);
    fmt::print("{:<32}  {:<34}  {}\n", name, outcome_of(find(answer.stored, rule)), outcome_of(find(answer.now, rule)));
  }
}

std::string verdict_of(const std::optional<wire::VerdictDocument>& document) {
  return document ? std::string(gate::word(document->verdict.outcome)) : "none";
}

int print(const wire::ReplayAnswer& answer) {
  print_rules(answer);
  for (const std::string& difference : answer.differences) fmt::print("  differs: {}\n", clean_text(difference, 600));
  const bool same_build = answer.build_stored == answer.build_now;
  if (answer.same) {
    fmt::print("run {}: {} again, {}\n", answer.run, verdict_of(answer.now),
               same_build ? "equal to the bit" : "with the same reasons (by another build of the service)");
    return exit_done;
  }
  fmt::print("run {}: stored {}, judged now {}\n", answer.run, verdict_of(answer.stored), verdict_of(answer.now));
  if (!same_build)
    fmt::print("  note: judged then by {}, now by {}\n", clean_text(answer.build_stored), clean_text(answer.build_now));
  return exit_failed;
}

int run(const ReplayOptions& options) {
  const std::string path =
      wire::run_path(wire::percent_encoded(options.connection.project), wire::percent_encoded(options.run)) + "/replay";
  const auto client = connect(options.connection);
  if (!client) return say(client.error());
  const auto body = client->get(path);
  if (!body) return say(body.error());
  const auto answer = wire::replay_from_json(*body);
  if (!answer) return say(answer.error());
  if (!options.json) return print(*answer);
  fmt::print("{}\n", *body);
  return answer->same ? exit_done : exit_failed;
}

}  // namespace

Action declare_replay(CLI::App& app) {
  const auto options = std::make_shared<ReplayOptions>();
  app.add_option("RUN", options->run, "id of the run")->required();
  add_connection_options(app, options->connection);
  app.add_flag("--json", options->json, "as the service answers");
  app.footer(
      R"(The service judges the run again from what its verdict keeps: the policy's text, the values that it was compared with,
its own values. The same build gives the same verdict to the bit, another one the same outcomes and reasons.

Example:
  traceweir replay 01970000-0000-7000-8000-000000000000 --project llama

Exit codes: 0 the same again, 1 it differs: every difference is named, 2 usage, or a run that cannot be replayed.)");
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
