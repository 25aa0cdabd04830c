#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

#include "analyzer/core/text.hpp"
#include "analyzer/core/version.hpp"
#include "analyzer/report/report.hpp"
#include "cli/command.hpp"
#include "command_line/commands.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::cli {
namespace {

constexpr Command command_table[] = {
    {"analyze", "measure traces here, without a service", &declare_analyze},
    {"gate", "the CI step: upload a trace, wait for the verdict, exit by it", &declare_gate},
    {"compare", "two traces or runs: what changed, and why", &declare_compare},
    {"history", "a metric over the commits of a branch", &declare_history},
    {"runs", "the runs of a project, newest first", &declare_runs},
    {"show", "one run with its verdict", &declare_show},
    {"accept", "accepts the level of a run as the new baseline, or takes that back", &declare_accept},
    {"finish", "waits for no further rank of a run, and exits by its verdict", &declare_finish},
    {"changepoints", "where the level of any series of numbers changed", &declare_changepoints},
    {"backtest", "what a policy would have said about stored runs, or a rule about a series", &declare_backtest},
    {"policy", "checks a policy and says in words what it does", &declare_policy},
    {"replay", "judges a stored run again, and says where the verdict differs", &declare_replay},
    {"metrics", "every metric: id, unit, better side, meaning", &declare_metrics},
    {"completion", "the script that lets a shell complete command lines", &declare_completion},
    {"man", "the pages of man(1)", &declare_man},
};

constexpr const char* footer = R"(Examples:
  traceweir analyze trace.json.gz
  traceweir gate report.sqlite --project llama --workload ddp-8gpu --branch main
  traceweir compare before.json.gz after.json.gz
  traceweir history gpu.utilization --project llama --branch main

The service is found by TRACEWEIR_URL, the token by TRACEWEIR_TOKEN.
Exit codes: 0 pass, 1 fail, 2 usage or refused, 3 inconclusive or bad trace, 4 service unreachable.)";

/// Errors of the trace exit by 3: CI can tell "your profile is broken" from "your command is wrong".
constexpr ErrorCode trace_errors[] = {
    ErrorCode::empty_upload,    ErrorCode::unknown_format,   ErrorCode::not_a_trace,
    ErrorCode::malformed_trace, ErrorCode::trace_too_large,  ErrorCode::unsupported_format,
    ErrorCode::hash_mismatch,   ErrorCode::analysis_timeout, ErrorCode::analysis_failed};

template <std::size_t n>
bool contains(const ErrorCode (&codes)[n], ErrorCode code) {
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

bool is_command(std::string_view word) {
  return std::any_of(std::begin(command_table), std::end(command_table),
                     [&](const Command& row) { return row.name == word; });
}

int unknown_command(std::string_view word) {
  std::string known;
  for (const Command& row : command_table) known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  return say(Error{ErrorCode::usage,
                   fmt::format("there is no command '{}'; there are: {} (--help says more)", clean_text(word), known)});
}

/// Values that help texts name by their kind.
std::vector<command_line::Candidate> values_of(std::string_view kind) {
  std::vector<command_line::Candidate> values;
  if (kind != "METRIC") return values;
  for (const MetricInfo& metric : report::catalog()) values.push_back({metric.id, std::string(metric.meaning)});
  return values;
}

}  // namespace

std::span<const Command> commands() { return command_table; }

int exit_code_of(ErrorCode code) {
  if (contains(trace_errors, code)) return exit_inconclusive;
  if (wire::is_away({code, ""})) return exit_unreachable;
  return exit_usage;
}

int say(const Error& error) {
  fmt::print(stderr, "traceweir: {}: {}\n", word(error.code), error.message);
  return exit_code_of(error.code);
}

int run_commands(int argc, char** argv) {
  CLI::App app{"Traceweir: measures GPU training traces and gates commits on them.", "traceweir"};
  app.footer(footer);
  app.set_version_flag("--version", fmt::format("traceweir {}", version));
  app.require_subcommand(1);
  Action chosen;
  for (const Command& command : command_table) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    Action action = command.declare(*sub);
    sub->callback([&chosen, action = std::move(action)] { chosen = action; });
  }
  if (command_line::answer_completion(app, argc, argv, &values_of) == command_line::Asked::yes) return exit_done;
  if (argc > 1 && argv[1][0] != '-' && !is_command(argv[1])) return unknown_command(argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_done : exit_usage;
  }
  return chosen();
}

}  // namespace traceweir::cli
