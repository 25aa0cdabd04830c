#include "cli/gate_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>

#include "cli/ci_environment.hpp"

namespace traceweir::cli {
namespace {

constexpr const char* footer = R"(Examples:
  export TRACEWEIR_URL=https://traceweir.example.org TRACEWEIR_TOKEN=twr_…
  traceweir gate trace.json.gz --project llama --workload ddp-8gpu
  traceweir gate report.sqlite --project llama --commit "$SHA" --branch main --env node=a100-1
  traceweir gate rank0.json.gz rank1.json.gz --project llama       two ranks of one run
  traceweir gate rank3.json.gz --rank 3 --ranks 8 --run-key "$CI_PIPELINE_ID"   one of eight jobs; the last one gets the
                                                                   verdict, the others exit 0
  traceweir gate --explain-ci                                      what is told by the CI, and by what

Exit codes: 0 pass, warn or a baseline still being built; 1 fail; 2 usage, or refused by the service;
3 inconclusive, or a trace that is refused; 4 the service cannot be reached.)";

/// A flag per fact. Flags and variables are told apart later on, so that --explain-ci can say which it was.
void add_facts(CLI::App& app, GateOptions& options) {
  for (const FactRow& row : fact_table()) {
    if (row.flag == nullptr) continue;
    std::string& given = options.given[row.fact];
    const std::string variable = fmt::format("(Env:{})", row.variable);
    if (row.kind == FactKind::yes_or_no)
      app.add_flag(fmt::format("{}{{true}}", row.flag), given, fmt::format("{} {}", row.help, variable));
    else
      app.add_option(row.flag, given, row.help)->type_name("TEXT " + variable);
  }
}

void add_run_options(CLI::App& app, GateOptions& options) {
  app.add_option("--workload", options.workload,
                 "which job of the project was measured (default: the policy's, else default)")
      ->envname("TRACEWEIR_WORKLOAD");
  app.add_option("--policy", options.policy,
                 "policy file (default: .traceweir.toml here or at the top of the work tree)")
      ->check(CLI::ExistingFile);
  add_facts(app, options);
  app.add_option("--ci", options.ci,
                 fmt::format("the CI whose variables are read: {} or none (default: told by the variables)",
                             fmt::join(ci_names(), ", ")))
      ->envname("TRACEWEIR_CI");
  app.add_option("--env", options.environment, "KEY=VALUE that belongs to the environment class; repeatable")
      ->type_name("KEY=VALUE");
  app.add_option("--rank", options.rank, "rank that the (first) file begins with, where several jobs send one run")
      ->check(CLI::NonNegativeNumber)
      ->envname("TRACEWEIR_RANK");
  app.add_option("--ranks", options.ranks, "how many ranks the run has (default: the number of files)")
      ->check(CLI::PositiveNumber)
      ->envname("TRACEWEIR_RANKS");
  app.add_option("--run-key", options.run_key,
                 "what the uploads of one run have in common (default: the CI run; a new one where all ranks are given "
                 "here)")
      ->envname("TRACEWEIR_RUN_KEY");
  app.add_option("--key", options.key,
                 "idempotency key (default: CI run, attempt, job, matrix and a hash of what is sent; a new one without "
                 "a CI)")
      ->envname("TRACEWEIR_KEY");
}

void add_outcome_options(CLI::App& app, GateOptions& options) {
  app.add_option("--wait", options.wait, "seconds to wait for the verdict")
      ->check(CLI::Range(0, 600))
      ->capture_default_str();
  app.add_option("--on-unreachable", options.on_unreachable, "pass: exit 0 when the service cannot be reached")
      ->check(CLI::IsMember({"fail", "pass"}))
      ->capture_default_str()
      ->envname("TRACEWEIR_ON_UNREACHABLE");
  app.add_flag("--strict", options.strict, "exit 3 also while the baseline is still being built");
  app.add_flag("--dry-run", options.dry_run, "measure here and send nothing");
  app.add_flag("--explain-ci", options.explain_ci,
               "print what the CI and git tell of the commit, and what says so; needs no file, service or token");
  app.add_flag("--json", options.json, "the run as the service answers it");
}

}  // namespace

void add_gate_options(CLI::App& app, GateOptions& options) {
  app.add_option("FILE", options.files,
                 "nsys SQLite export or report, Kineto JSON (plain, gzip or zstd), a report, output of nsys stats, or "
                 "metrics of your own; several are ranks of one run, in this order")
      ->check(CLI::ExistingFile);
  add_connection_options(app, options.connection);
  add_run_options(app, options);
  add_reading_options(app, options.reading);
  add_outcome_options(app, options);
  app.footer(footer);
  for (const CLI::Option* option : app.get_options())
    if (!option->get_envname().empty()) options.variables.push_back(option->get_envname());
  for (const FactRow& row : fact_table())
    if (row.variable != nullptr) options.variables.emplace_back(row.variable);
}

}  // namespace traceweir::cli
