#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/core/text.hpp"
#include "cli/ancestry.hpp"
#include "cli/ci_environment.hpp"
#include "cli/client.hpp"
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/explain_ci.hpp"
#include "cli/gate_options.hpp"
#include "cli/git.hpp"
#include "cli/patience.hpp"
#include "cli/print_run.hpp"
#include "cli/reading.hpp"
#include "cli/repository_policy.hpp"
#include "cli/sending.hpp"
#include "cli/terminal.hpp"
#include "server/hash/sha256.hpp"
#include "server/wire/json.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

/// The repository's policy names project and workload where nothing nearer does.
void fill_from_policy(GateOptions& options, const std::optional<gate::Policy>& policy) {
  if (policy && options.connection.project.empty()) options.connection.project = policy->project;
  if (policy && options.workload.empty()) options.workload = policy->workload;
  if (options.workload.empty()) options.workload = "default";
}

/// Puts the policy where the upload can refer to it; the service keeps texts by their hash.
/// Errors: those of the client and of the service.
Result<std::string> send_policy(const Client& client, const GateOptions& options, const gate::Policy& policy) {
  ClientRequest request;
  request.method = "PUT";
  const std::string sha256 = hash::sha256_hex(policy.text);
  request.path =
      fmt::format("/api/v1/projects/{}/policies/{}", wire::percent_encoded(options.connection.project), sha256);
  request.text = policy.text;
  request.headers = {{"Content-Type", "application/toml"}};
  TRACEWEIR_TRY(answer, send_with_patience(client, request));
  if (answer.status != 204) return tl::unexpected(error_of(answer));
  return sha256;
}

int unreachable(const GateOptions& options, const Error& error) {
  const int code = say(error);
  if (code != exit_unreachable || options.on_unreachable != "pass") return code;
  fmt::print(stderr, "traceweir: going on without a verdict (--on-unreachable=pass)\n");
  return exit_done;
}

int show_answer(const GateOptions& options, const Client& client, const std::string& body) {
  const auto run = wire::run_from_json(body);
  if (!run) return say(Error{ErrorCode::unreachable, "the service's answer is not understood: " + run.error().message});
  if (options.json)
    fmt::print("{}\n", body);
  else
    fmt::print("{}", run_table(*run, client, paint_of_stdout()));
  if (run->status == "pending" && options.rank) return exit_done;  // whoever sends the last rank gets the verdict
  if (!run->verdict) return exit_inconclusive;
  return exit_code_of(*run->verdict, options.strict ? gate::Strictness::strict : gate::Strictness::lenient);
}

int dry_run(const GateOptions& options) {
  const auto report = analyze_files(options.files, options.reading, Hashing::none);
  if (!report) return say(report.error());
  if (options.json)
    fmt::print("{}\n", report::to_json(*report));
  else
    fmt::print("{}\ndry run: nothing was sent\n", report::to_table(*report, paint_of_stdout()));
  return exit_done;
}

/// Sends the policy (of a fork none is used) and then the files. Errors: those of the client and of the service.
Result<std::string> send_run(Submission submission, const std::optional<gate::Policy>& policy,
                             const std::vector<Part>& parts) {
  if (policy && !submission.ci.is(Fact::fork)) {
    TRACEWEIR_TRY(sha256, send_policy(submission.client, submission.options, *policy));
    submission.policy = sha256;
  }
  return send_parts(submission, parts);
}

int explain(const GateOptions& options, const CiEnvironment& ci) {
  if (options.json)
    fmt::print("{}\n", ci_json(ci));
  else
    fmt::print("{}", ci_table(ci));
  return exit_done;
}

Result<CiEnvironment> environment_of(const GateOptions& options) {
  const std::int64_t files = std::max<std::int64_t>(std::ssize(options.files), 1);
  const bool alone = !options.rank && options.ranks.value_or(1) <= files;
  return ci_environment(
      {options.given, alone ? Sender::whole_run : Sender::one_of_several, options.ci, process_variables(), &git});
}

void say_notes(const GateOptions& options, const CiEnvironment& ci) {
  for (const std::string& sentence : unknown_variables(options.variables))
    fmt::print(stderr, "traceweir: {}\n", sentence);
  for (const std::string& note : ci.notes) fmt::print(stderr, "traceweir: {}\n", note);
}

int run(GateOptions options) {
  const auto ci = environment_of(options);
  if (!ci) return say(ci.error());
  if (options.explain_ci) return explain(options, *ci);
  if (options.files.empty()) return say(Error{ErrorCode::usage, "which file? Give at least one trace (--help)"});
  if (options.dry_run) return dry_run(options);
  say_notes(options, *ci);
  const auto policy = repository_policy(options.policy, *ci);
  if (!policy) return say(policy.error());
  fill_from_policy(options, *policy);
  const auto client = connect(options.connection);
  if (!client) return say(client.error());
  const Submission submission{options, *ci, *client, ""};
  if (const auto right = check_submission(submission); !right) return say(right.error());
  const auto parts = parts_of(options);
  if (!parts) return say(parts.error());
  if (const auto filled = fill_in_ranks(options, *ci, *parts); !filled) return say(filled.error());
  // From here on the command line is right; what fails now is the service's or the trace's.

  const AncestryOf ancestry{options.connection.project, ci->text(Fact::commit), ci->text(Fact::base)};
  if (const auto told = send_ancestry(*client, ancestry); !told) return unreachable(options, told.error());
  const auto answer = send_run(submission, *policy, *parts);
  return answer ? show_answer(options, *client, *answer) : unreachable(options, answer.error());
}

}  // namespace

Action declare_gate(CLI::App& app) {
  const auto options = std::make_shared<GateOptions>();
  add_gate_options(app, *options);
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
