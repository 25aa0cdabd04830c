#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "analyzer/core/text.hpp"
#include "cli/command.hpp"
#include "cli/policy_question.hpp"
#include "cli/repository_policy.hpp"
#include "gate/policy_words.hpp"
#include "server/wire/json.hpp"
#include "server/wire/policy_answers.hpp"

namespace traceweir::cli {
namespace {

struct PolicyOptions {
  std::string file;
  bool json = false;
  ConnectionOptions connection;  ///< with a project: by its baselines of today
  std::string workload, branch;
};

void print_json(const gate::Policy& policy) {
  wire::Json document = {
      {"rules", wire::Json::array()}, {"findings", wire::Json::array()}, {"about", in_words(policy)}};
  for (const gate::Rule& rule : policy.rules)
    document["rules"].push_back(
        {{"metric", rule.metric}, {"level", word(rule.level)}, {"words", in_words(rule, policy)}});
  for (const gate::FindingRule& rule : policy.findings)
    document["findings"].push_back({{"code", word(rule.code)}, {"level", word(rule.level)}, {"words", in_words(rule)}});
  fmt::print("{}\n", wire::dump(document));
}

void print_text(const gate::Policy& policy) {
  for (const gate::Rule& rule : policy.rules) fmt::print("{}\n", in_words(rule, policy));
  for (const gate::FindingRule& rule : policy.findings) fmt::print("{}\n", in_words(rule));
  if (policy.rules.empty() && policy.findings.empty()) fmt::print("There is no rule: nothing is judged.\n");
  for (const std::string& sentence : in_words(policy)) fmt::print("{}\n", sentence);
}

/// What the service says that the policy does to the next run.
int check_there(const PolicyOptions& options) {
  auto text = policy_text(options.file);
  if (!text) return say(text.error());
  if (text->empty()) fmt::print(stderr, "there is no {} here: this is the policy in force\n", policy_file_name);
  const auto body = ask_about({options.connection, "check", options.workload, options.branch, "", *std::move(text)});
  if (!body) return say(body.error());
  const auto sentences = wire::sentences_from_json(*body);
  if (!sentences) return say(sentences.error());
  if (options.json) fmt::print("{}\n", *body);
  if (!options.json)
    for (const std::string& sentence : *sentences) fmt::print("{}\n", clean_text(sentence, 600));
  return exit_done;
}

int check(const PolicyOptions& options) {
  if (!options.connection.project.empty()) return check_there(options);
  const auto policy = repository_policy(options.file, {});
  if (!policy) return say(policy.error());
  if (!*policy) fmt::print(stderr, "there is no {} here: these are the built-in rules\n", policy_file_name);
  const gate::Policy& shown = *policy ? **policy : gate::built_in_policy();
  if (options.json)
    print_json(shown);
  else
    print_text(shown);
  return exit_done;
}

}  // namespace

Action declare_policy(CLI::App& app) {
  const auto options = std::make_shared<PolicyOptions>();
  CLI::App* sub = app.add_subcommand("check", "reads a policy, and says what it does or what is wrong with it");
  sub->add_option("FILE", options->file, "the policy (default: .traceweir.toml here or at the top of the work tree)")
      ->check(CLI::ExistingFile);  // a typo must not be answered with the built-in rules
  sub->add_flag("--json", options->json, "as JSON");
  // Why: TRACEWEIR_PROJECT is set in every CI step, and a check of a file must not need the service.
  sub->add_option("--project", options->connection.project, "say what it does by this project's baselines of today")
      ->type_name("NAME");
  sub->add_option("--url", options->connection.url, "where the service is")->envname("TRACEWEIR_URL")->type_name("URL");
  sub->add_option("--workload", options->workload, "with --project: which workload (default: the policy's)");
  sub->add_option("--branch", options->branch, "with --project: which branch (default: the policy's, else main)");
  app.require_subcommand(1);
  app.footer("Example:\n  traceweir policy check");
  sub->footer(R"(Examples:
  traceweir policy check
  traceweir policy check ci/policy.toml --json
  traceweir policy check ci/policy.toml --project llama --workload ddp-8gpu

Exit codes: 0 it is a policy, 2 it is none (the message names line and key), or a named file is not there.)");
  return [options] { return check(*options); };
}

}  // namespace traceweir::cli
