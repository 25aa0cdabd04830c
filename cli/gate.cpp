#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/core/text.hpp"
#include "cli/ancestry.hpp"
#include "cli/ci_environment.hpp"
#include "cli/client.hpp"
#include "cli/command.hpp"
#include "cli/confirmation.hpp"
#include "cli/connection.hpp"
#include "cli/explain_ci.hpp"
#include "cli/gate_options.hpp"
#include "cli/git.hpp"
#include "cli/job_token.hpp"
#include "cli/outputs.hpp"
#include "cli/patience.hpp"
#include "cli/print_run.hpp"
#include "cli/reading.hpp"
#include "cli/repository_policy.hpp"
#include "cli/sending.hpp"
#include "cli/terminal.hpp"
#include "cli/trace_files.hpp"
#include "server/hash/sha256.hpp"
#include "server/wire/annotations.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

using OptionalPolicy = std::optional<gate::Policy>;

/// The repository's policy names project and workload where nothing nearer does, and how traces are read here. Where
/// the base of a change has none, the change that brings it says at least whose measurements these are.
void fill_from_policy(GateOptions& options, const OptionalPolicy& policy) {
  const PolicyNames names = policy ? PolicyNames{policy->project, policy->workload} : names_here(options.policy);
  if (options.connection.project.empty()) options.connection.project = names.project;
  if (options.workload.empty()) options.workload = names.workload;
  if (options.workload.empty()) options.workload = "default";
  if (!policy || !(options.edge || options.dry_run)) return;
  if (!options.reading.steps) options.reading.steps = policy->trace.steps;
  if (!options.reading.skip) options.reading.skip = policy->trace.skip_steps;
  if (!options.reading.window) options.reading.window = policy->trace.window;
}

/// Puts the policy where the upload can refer to it; the service keeps texts by their hash. Of a fork it is that of the
/// merge base, and the service says in the verdict's notes that it did not use it.
/// Errors: those of the client and of the service.
Result<std::string> send_policy(const Submission& submission, const OptionalPolicy& policy) {
  if (!policy) return std::string{};
  ClientRequest request;
  request.method = "PUT";
  std::string sha256 = hash::sha256_hex(policy->text);
  request.path = fmt::format("/api/v1/projects/{}/policies/{}",
                             wire::percent_encoded(submission.options.connection.project), sha256);
  request.text = policy->text;
  request.headers = {{"Content-Type", "application/toml"}};
  TRACEWEIR_TRY(answer, send_with_patience(submission.client, request));
  if (answer.status != 204) return tl::unexpected(error_of(answer));
  return sha256;
}

/// A gate at work: what was asked for, and where.
struct Job {
  GateOptions options;
  CiEnvironment ci;
  std::optional<Client> client;

  [[nodiscard]] bool in_github() const { return ci.ci == "github"; }
  [[nodiscard]] std::string address() const { return client ? client->address_of("") : ""; }
};

/// Text for the job's log: GitHub's runner takes commands out of what a program prints.
void print_log(const Job& job, std::FILE* to, const std::string& text) {
  fmt::print(to, "{}", job.in_github() ? wire::inert_for_runner(text) : text);
}

void leave_behind(const Job& job, const wire::RunAnswer& run, int exit_code) {
  write_outputs({run, exit_code, job.address()}, job.options.outputs, process_variables());
  if (job.in_github() && run.status != "pending")
    fmt::print(job.options.json ? stderr : stdout, "{}", wire::github_annotations(run, job.address()));
}

/// Ends without a verdict.
int end_by(const Job& job, const Error& error) {
  int code = say(error);
  const bool soft = code == exit_unreachable && job.options.on_unreachable == "pass";
  if (soft) fmt::print(stderr, "traceweir: going on without a verdict (--on-unreachable=pass)\n");
  if (soft) code = exit_done;
  wire::RunAnswer run;
  run.project = job.options.connection.project;
  run.workload = job.options.workload;
  run.commit = job.ci.text(Fact::commit);
  run.branch = job.ci.text(Fact::branch);
  run.error = error;
  run.let_pass = soft;
  leave_behind(job, run, code);
  return code;
}

int exit_code_of(const Job& job, const wire::RunAnswer& run) {
  if (run.status == "pending" && job.options.rank) return exit_done;  // whoever sends the last rank gets the verdict
  if (!run.verdict) return exit_inconclusive;
  if (run.verdict->mode == "observe") return exit_done;
  return gate::exit_code(run.verdict->verdict,
                         job.options.strict ? gate::Strictness::strict : gate::Strictness::lenient);
}

int end_with(const Job& job, const wire::RunAnswer& run, const std::string& body) {
  if (job.options.json) {
    fmt::print("{}\n", body);
    print_log(job, stderr, run_table(run, {report::Paint::plain, 0, job.address()}));
  } else {
    print_log(job, stdout, run_table(run, {paint_of_stdout(), width_of_stdout(), job.address()}));
  }
  std::fflush(stdout);
  const int code = exit_code_of(job, run);
  leave_behind(job, run, code);
  return code;
}

int dry_run(const Job& job, const std::vector<std::string>& files) {
  const auto report = analyze_files(files, job.options.reading, Hashing::none);
  if (!report) return say(report.error());
  if (job.options.json)
    fmt::print("{}\n", report::to_json(*report));
  else
    fmt::print("{}\n{}\ndry run: nothing was sent; it would be {} {} of project '{}', workload '{}'\n",
               report::to_table(*report, paint_of_stdout()), ci_table(job.ci, credential_of(process_variables())),
               files.size(), files.size() == 1 ? "file" : "files", clean_text(job.options.connection.project),
               job.options.workload);
  return exit_done;
}

struct Sent {
  std::string body;
  wire::RunAnswer run;
  std::string contents;  ///< hashes of all that was sent
};

/// The options of the `number`-th run that this job sends: keys that a person gave are of one run each.
GateOptions options_of(const Job& job, std::int64_t number) {
  GateOptions options = job.options;
  for (std::string* const key : {&options.key, &options.run_key})
    if (number > 1 && !key->empty()) *key += fmt::format("/confirm-{}", number);
  return options;
}

/// Sends what the files hold now, `contents_before` being what they held. Errors: those of sending.
Result<Sent> send_once(const Job& job, const std::string& policy, const std::string& contents_before,
                       std::int64_t number) {
  GateOptions options = options_of(job, number);
  TRACEWEIR_TRY(files, trace_files(options.files));
  TRACEWEIR_TRY(parts, parts_of(files, options));
  std::string contents;
  for (const Part& part : parts) contents += part.sha256;
  if (contents == contents_before)
    return fail(ErrorCode::usage,
                "--confirm-with: the command left the files as they were: nothing was measured again");
  TRACEWEIR_TRY_VOID(fill_in_ranks(options, job.ci, parts));
  TRACEWEIR_TRY(body, send_parts({options, job.ci, *job.client, policy}, parts));
  auto run = wire::run_from_json(body);
  if (!run) return fail(ErrorCode::unreachable, "the service's answer is not understood: " + run.error().message);
  return Sent{std::move(body), *std::move(run), std::move(contents)};
}

/// A job without a token of the service's own asks for one of minutes, before each run that it sends: a profile may
/// take longer than that. Errors: those of with_job_token().
Result<void> get_token(Job& job) {
  const Variables variables = process_variables();
  if (!wants_job_token(variables)) return {};
  TRACEWEIR_TRY(client, with_job_token(*job.client, job.options.connection, variables));
  job.client = std::move(client);
  return {};
}

/// As long as the verdict wants more runs of the commit, and each brings it nearer.
int confirm(Job& job, const std::string& policy, Sent sent) {
  const auto wanted = [&] { return sent.run.verdict ? runs_wanted(sent.run.verdict->verdict) : 0; };
  std::int64_t number = 1;
  for (std::int64_t left = wanted(); left > 0 && !job.options.confirm_with.empty();) {
    fmt::print(stderr, "traceweir: {}; {} more {} wanted, so the profile runs again\n",
               clean_text(sent.run.verdict->verdict.summary, 1024), left, left == 1 ? "run is" : "runs are");
    auto again = profile_again(job.options.confirm_with, ++number);
    if (again) again = get_token(job);
    auto next = again ? send_once(job, policy, sent.contents, number) : Result<Sent>(tl::unexpected(again.error()));
    if (!next) {
      static_cast<void>(say(next.error()));
      break;  // the verdict that there is stands
    }
    sent = *std::move(next);
    if (wanted() >= left) break;
    left = wanted();
  }
  return end_with(job, sent.run, sent.body);
}

int submit(Job& job, const OptionalPolicy& policy) {
  const AncestryOf ancestry{job.options.connection.project, job.ci.text(Fact::commit), job.ci.text(Fact::base)};
  if (const auto told = send_ancestry(*job.client, ancestry); !told) return end_by(job, told.error());
  const auto hash = send_policy({job.options, job.ci, *job.client, ""}, policy);
  if (!hash) return end_by(job, hash.error());
  auto sent = send_once(job, *hash, "", 1);
  return sent ? confirm(job, *hash, *std::move(sent)) : end_by(job, sent.error());
}

void say_unknown_variables(const GateOptions& options) {
  for (const std::string& sentence : unknown_variables(options.variables))
    fmt::print(stderr, "traceweir: {}\n", sentence);
}

int explain(const Job& job) {
  const std::string credential = credential_of(process_variables());
  fmt::print("{}", job.options.json ? ci_json(job.ci, credential) + "\n" : ci_table(job.ci, credential));
  return exit_done;
}

Result<CiEnvironment> environment_of(const GateOptions& options) {
  const std::int64_t files = std::max<std::int64_t>(std::ssize(options.files), 1);
  const bool alone = !options.rank && options.ranks.value_or(1) <= files;
  return ci_environment(
      {options.given, alone ? Sender::whole_run : Sender::one_of_several, options.ci, process_variables(), &git});
}

void say_notes(const Job& job) {
  for (const std::string& note : job.ci.notes) fmt::print(stderr, "traceweir: {}\n", note);
}

/// Everything that can be wrong about the command line is said before anything is sent. Errors: usage, …
Result<void> prepare(Job& job, const OptionalPolicy& policy) {
  if (!job.options.confirm_with.empty() && job.options.rank)
    return fail(ErrorCode::usage, "--confirm-with: a run whose ranks other jobs send cannot be run again here");
  TRACEWEIR_TRY_VOID(check_outputs(job.options.outputs));
  fill_from_policy(job.options, policy);
  TRACEWEIR_TRY(client, connect(job.options.connection));
  job.client = std::move(client);
  return check_submission({job.options, job.ci, *job.client, ""});
}

int run(GateOptions options) {
  say_unknown_variables(options);
  auto ci = environment_of(options);
  if (!ci) return say(ci.error());
  Job job{std::move(options), *std::move(ci), std::nullopt};
  if (job.options.explain_ci) return explain(job);
  if (job.options.files.empty()) return say(Error{ErrorCode::usage, "which file? Give at least one trace (--help)"});
  const auto files = trace_files(job.options.files);
  if (!files) return say(files.error());
  const auto policy = repository_policy(job.options.policy, job.ci);
  if (!policy) return say(policy.error());
  if (job.options.dry_run) {
    fill_from_policy(job.options, *policy);
    return dry_run(job, *files);
  }
  say_notes(job);
  if (const auto right = prepare(job, *policy); !right) return say(right.error());
  // From here on the command line is right; what fails now is the service's or the trace's.
  if (const auto had = get_token(job); !had) return end_by(job, had.error());
  return submit(job, *policy);
}

}  // namespace

Action declare_gate(CLI::App& app) {
  const auto options = std::make_shared<GateOptions>();
  add_gate_options(app, *options);
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
