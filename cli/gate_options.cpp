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
  traceweir gate 'traces/rank*.json.gz' --project llama           several files, or a folder: the ranks of one run
  traceweir gate rank3.json.gz --rank 3 --ranks 8                  one of eight jobs of a CI run; the last one that sends
                                                                   gets the verdict, the others exit 0
  traceweir gate report.sqlite --env node=a100-1 --strict
  traceweir gate report.sqlite --edge                              measure here, send only the report
  traceweir gate out/ --confirm-with 'make profile'                run it again where the verdict wants a second run
  traceweir gate trace.json --junit gate.xml --markdown gate.md    reports for the CI
  traceweir gate --explain-ci                                      what is told by the CI, and by what

In a project that only observes the exit code is 0 whatever the verdict; a trace that is refused has none and exits 3,
a service that is away 4 (--on-unreachable pass: 0).
Without TRACEWEIR_TOKEN the CI's id token is shown and exchanged for a token of minutes: GitHub's job needs `permissions:
id-token: write`, GitLab's has it in TRACEWEIR_OIDC_TOKEN (docs/ci.md).
In CI, commit, base, branch, pull request and attempt are found out; --explain-ci shows them.
A run of several jobs that lacks a rank is judged without it after a while (inconclusive: missing_rank), or at once by
`traceweir finish RUN`.

Exit codes: 0 pass, warn or a baseline still being built; 1 fail; 2 usage, or refused by the service;
3 inconclusive, no verdict within --wait (with --wait 0 always), or a trace that is refused; 4 the service cannot be
reached.)";

/// What a value of that kind is called in the help.
const char* word_of(FactKind kind) {
  if (kind == FactKind::commit) return "COMMIT";
  return kind == FactKind::number ? "NUMBER" : "TEXT";
}

/// A flag per fact. Flags and variables are told apart later on, so that --explain-ci can say which it was.
void add_facts(CLI::App& app, GateOptions& options) {
  for (const FactRow& row : fact_table()) {
    if (row.flag == nullptr) continue;
    std::string& given = options.given[row.fact];
    const std::string variable = fmt::format("(Env:{})", row.variable);
    if (row.kind == FactKind::yes_or_no)
      app.add_flag(fmt::format("{}{{true}}", row.flag), given, fmt::format("{} {}", row.help, variable));
    else
      app.add_option(row.flag, given, row.help)->type_name(std::string(word_of(row.kind)) + " " + variable);
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

void add_sending_options(CLI::App& app, GateOptions& options) {
  app.add_flag("--edge", options.edge, "measure here and send only the report, not the traces");
  app.add_flag("--dry-run", options.dry_run, "measure here, say what would be sent, and send nothing");
  app.add_option("--compression", options.compression, "of what is not compressed yet: zstd or none")
      ->check(CLI::IsMember({"zstd", "none"}))
      ->capture_default_str()
      ->envname("TRACEWEIR_COMPRESSION");
  app.add_option("--wait", options.wait, "seconds to wait for the verdict; 0: not at all")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str()
      ->type_name("SECONDS")
      ->envname("TRACEWEIR_WAIT");
  app.add_option("--retry-time-max", options.connection.retry_time_max,
                 "seconds within which a service that is away is tried again, five times at most")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str()
      ->type_name("SECONDS")
      ->envname("TRACEWEIR_RETRY_TIME_MAX");
  app.add_option("--confirm-with", options.confirm_with,
                 "shell command that runs the profile again where a suspicious run wants to be confirmed (the policy's "
                 "`confirm`); it writes the same FILEs, which are then sent as a further run")
      ->type_name("COMMAND")
      ->envname("TRACEWEIR_CONFIRM_WITH");
}

void add_outcome_options(CLI::App& app, GateOptions& options) {
  app.add_option("--on-unreachable", options.on_unreachable,
                 "exit 4 (fail) or 0 (pass) when the service cannot be reached")
      ->check(CLI::IsMember({"fail", "pass"}))
      ->capture_default_str()
      ->envname("TRACEWEIR_ON_UNREACHABLE");
  app.add_flag("--strict", options.strict, "exit 3 also while the baseline is still being built");
  app.add_option("--markdown", options.outputs.markdown, "file for the verdict as Markdown (comment of a pull request)")
      ->type_name("FILE");
  app.add_option("--junit", options.outputs.junit, "file for the verdict as JUnit XML, a test case per metric")
      ->type_name("FILE");
  app.add_option("--dotenv", options.outputs.dotenv, "file for TRACEWEIR_OUTCOME=… and others (GitLab's dotenv report)")
      ->type_name("FILE");
  app.add_flag("--explain-ci", options.explain_ci,
               "print what the CI and git tell of the commit, and what says so; needs no file, service or token");
  app.add_flag("--json", options.json, "print the run as the service answers it; the table goes to stderr");
}

}  // namespace

void add_gate_options(CLI::App& app, GateOptions& options) {
  app.add_option("FILE", options.files,
                 "nsys SQLite export or report, Kineto JSON (plain, gzip or zstd), a report, output of nsys stats, or "
                 "metrics of your own; several, a pattern or a folder are ranks of one run, in this order")
      ->type_name("FILE");
  add_connection_options(app, options.connection);
  add_run_options(app, options);
  add_reading_options(app, options.reading);
  add_sending_options(app, options);
  add_outcome_options(app, options);
  app.footer(footer);
  for (const CLI::Option* option : app.get_options())
    if (!option->get_envname().empty()) options.variables.push_back(option->get_envname());
  for (const FactRow& row : fact_table())
    if (row.variable != nullptr) options.variables.emplace_back(row.variable);
}

}  // namespace traceweir::cli
