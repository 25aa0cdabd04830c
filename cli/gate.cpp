#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/core/text.hpp"
#include "cli/ancestry.hpp"
#include "cli/client.hpp"
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/git.hpp"
#include "cli/patience.hpp"
#include "cli/print_run.hpp"
#include "cli/reading.hpp"
#include "cli/repository_policy.hpp"
#include "cli/terminal.hpp"
#include "server/hash/sha256.hpp"
#include "server/wire/json.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

struct Options {
  ConnectionOptions connection;
  ReadingOptions reading;
  std::vector<std::string> files;
  std::string policy, workload, commit, branch, base, base_branch, head, ci_run, job, matrix, job_url, key, run_key;
  std::optional<std::int64_t> pull_request, attempt, rank, ranks;
  std::vector<std::string> environment;
  std::int64_t wait = 100;
  std::string on_unreachable = "fail";
  bool fork = false, json = false, strict = false, dry_run = false;
};

/// What the options leave open comes from the git work tree.
void fill_from_git(Options& options, std::vector<std::string>& parents) {
  const GitFacts facts = git_facts();
  if (options.commit.empty()) options.commit = facts.commit;
  if (options.commit != facts.commit) return;  // HEAD is not what was measured: its branch and parents say nothing
  if (options.branch.empty()) options.branch = facts.branch;
  parents = facts.parents;
}

/// The repository's policy names project and workload where nothing nearer does.
void fill_from_policy(Options& options, const std::optional<gate::Policy>& policy) {
  if (policy && options.connection.project.empty()) options.connection.project = policy->project;
  if (policy && options.workload.empty()) options.workload = policy->workload;
  if (options.workload.empty()) options.workload = "default";
}

/// Puts the policy where the upload can refer to it; the service keeps texts by their hash.
/// Errors: those of the client and of the service.
Result<std::string> send_policy(const Client& client, const Options& options, const gate::Policy& policy) {
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

std::string new_key() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// One file of the run, and the rank that it begins with.
struct Part {
  std::string file;
  std::int64_t rank = 0;
};

/// What the command line leaves open of the ranks: several files are as many ranks of one run. A new key is known to
/// nobody else, so it is for runs that this command sends whole.
/// Errors: usage (ranks that other jobs send, and nothing that says which run they are of).
Result<void> fill_in_ranks(Options& options) {
  if (options.files.size() > 1 && !options.ranks) options.ranks = std::ssize(options.files);
  const bool alone = options.files.size() == 1 && !options.rank;
  if (!options.ranks || !options.run_key.empty() || !options.ci_run.empty() || alone) return {};
  if (options.rank.value_or(0) > 0 || *options.ranks > std::ssize(options.files))
    return fail(ErrorCode::usage,
                fmt::format("the run has {} ranks and not all of them are given here: say which run it is with "
                            "--run-key (TRACEWEIR_RUN_KEY) or --ci-run (TRACEWEIR_CI_RUN), the same in every job",
                            *options.ranks));
  options.run_key = new_key();
  return {};
}

/// Errors: usage.
Result<std::string> upload_path(const Options& options, const std::vector<std::string>& parents,
                                const std::string& policy, const Part& part) {
  if (options.commit.empty())
    return fail(ErrorCode::usage,
                "which commit was measured? Give --commit (or TRACEWEIR_COMMIT), or run inside the git work tree");
  PathWithQuery path(fmt::format("/api/v1/projects/{}/runs", wire::percent_encoded(options.connection.project)));
  path.add("workload", options.workload);
  path.add("commit", options.commit);
  path.add("branch", options.branch);
  path.add("base", options.base);
  path.add("base_branch", options.base_branch);
  path.add("head", options.head);
  path.add("parents", fmt::format("{}", fmt::join(parents, ",")));
  if (options.pull_request) path.add("pr", std::to_string(*options.pull_request));
  if (options.attempt) path.add("attempt", std::to_string(*options.attempt));
  if (options.fork) path.add("fork", "true");
  path.add("ci_run", options.ci_run);
  path.add("job", options.job);
  path.add("matrix", options.matrix);
  path.add("job_url", options.job_url);
  path.add("window", options.reading.window.value_or(""));
  path.add("steps", options.reading.steps.value_or(""));
  if (options.reading.skip) path.add("skip_steps", std::to_string(*options.reading.skip));
  if (options.rank || options.files.size() > 1) path.add("rank", std::to_string(part.rank));
  if (options.ranks) path.add("ranks", std::to_string(*options.ranks));
  path.add("run_key", options.run_key);
  path.add("name", std::filesystem::path(part.file).filename().string());
  path.add("wait", std::to_string(options.wait));
  path.add("policy", policy);
  for (const std::string& item : options.environment) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorCode::usage, fmt::format("--env '{}': expected KEY=VALUE", item));
    path.add("env." + item.substr(0, equals), item.substr(equals + 1));
  }
  return path.text();
}

/// A bar on a terminal; nothing elsewhere, since a CI log keeps every line.
std::function<void(std::uint64_t, std::uint64_t)> progress_bar() {
  if (isatty(STDERR_FILENO) == 0) return {};
  return [](std::uint64_t sent, std::uint64_t total) {
    const std::uint64_t percent = total == 0 ? 100 : sent * 100 / total;
    fmt::print(stderr, "\ruploading {:3} % of {:.1f} MiB", percent, static_cast<double>(total) / 1048576.0);
    if (sent == total) fmt::print(stderr, ", waiting for the verdict\r\x1b[K");
    std::fflush(stderr);
  };
}

int unreachable(const Options& options, const Error& error) {
  const int code = say(error);
  if (code != exit_unreachable || options.on_unreachable != "pass") return code;
  fmt::print(stderr, "traceweir: going on without a verdict (--on-unreachable=pass)\n");
  return exit_done;
}

int show_answer(const Options& options, const Client& client, const std::string& body) {
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

int dry_run(const Options& options) {
  const auto report = analyze_files(options.files, options.reading, Hashing::none);
  if (!report) return say(report.error());
  if (options.json)
    fmt::print("{}\n", report::to_json(*report));
  else
    fmt::print("{}\ndry run: nothing was sent\n", report::to_table(*report, paint_of_stdout()));
  return exit_done;
}

/// The service's answer to one file. Errors: those of the client and of the service.
Result<ClientAnswer> send_part(const Options& options, const Client& client, const std::string& path,
                               const Part& part) {
  ClientRequest request;
  request.method = "POST";
  request.path = path;
  request.file = part.file;
  const std::string key = options.key.empty() ? new_key() : fmt::format("{}/{}", options.key, part.rank);
  request.headers = {{"Content-Type", "application/octet-stream"},
                     {"Idempotency-Key", options.files.size() > 1 || options.key.empty() ? key : options.key}};
  request.progress = progress_bar();
  TRACEWEIR_TRY(answer, send_with_patience(client, request));
  if (answer.status != 201 && answer.status != 202) return tl::unexpected(error_of(answer));
  return answer;
}

/// The first rank that the run still lacks: a file may hold several.
std::int64_t next_rank(const std::string& answer, std::int64_t rank) {
  const auto run = wire::run_from_json(answer);
  const bool known = run && run->ranks && !run->ranks->missing.empty();
  return known ? run->ranks->missing.front() : rank + 1;
}

/// Sends one file after the other; the last one's answer is the run's.
int send_files(const Options& options, const Client& client, const std::vector<std::string>& parents,
               const std::string& policy) {
  Part part{"", options.rank.value_or(0)};
  std::string answer;
  for (const std::string& file : options.files) {
    if (!answer.empty()) part.rank = next_rank(answer, part.rank);
    const auto readable = ReadableFile::of(file, options.reading.exporting());
    if (!readable) return say(readable.error());
    part.file = readable->path().string();
    const auto path = upload_path(options, parents, policy, part);
    if (!path) return say(path.error());
    auto sent = send_part(options, client, *path, part);
    if (!sent && options.files.size() > 1)
      sent.error().message = fmt::format("{}: {}", clean_text(file), sent.error().message);
    if (!sent) return unreachable(options, sent.error());
    answer = sent->body;
  }
  return show_answer(options, client, answer);
}

int run(Options options) {
  if (options.dry_run) return dry_run(options);
  std::vector<std::string> parents;
  fill_from_git(options, parents);
  const auto policy = repository_policy(options.policy, options.base);
  if (!policy) return say(policy.error());
  fill_from_policy(options, *policy);
  if (const auto filled = fill_in_ranks(options); !filled) return say(filled.error());
  const auto client = connect(options.connection);
  if (!client) return say(client.error());
  if (const auto path = upload_path(options, parents, "", {options.files.front()}); !path) return say(path.error());
  // From here on the command line is right; what fails now is the service's or the trace's.

  if (const auto told = send_ancestry(*client, {options.connection.project, options.commit, options.base}); !told)
    return unreachable(options, told.error());
  std::string policy_hash;
  if (*policy) {
    const auto sent = send_policy(*client, options, **policy);
    if (!sent) return unreachable(options, sent.error());
    policy_hash = *sent;
  }
  return send_files(options, *client, parents, policy_hash);
}

void add_run_options(CLI::App& app, Options& options) {
  app.add_option("--workload", options.workload,
                 "which job of the project was measured (default: the policy's, else default)")
      ->envname("TRACEWEIR_WORKLOAD");
  app.add_option("--commit", options.commit, "full id of the commit that was measured (default: HEAD)")
      ->envname("TRACEWEIR_COMMIT");
  app.add_option("--branch", options.branch, "its branch (default: the work tree's)")->envname("TRACEWEIR_BRANCH");
  app.add_option("--base", options.base, "merge base that a pull request is compared with")->envname("TRACEWEIR_BASE");
  app.add_option("--base-branch", options.base_branch, "branch whose runs are the baseline")
      ->envname("TRACEWEIR_BASE_BRANCH");
  app.add_option("--head", options.head, "head commit of the pull request")->envname("TRACEWEIR_HEAD");
  app.add_option("--pr", options.pull_request, "number of the pull request")->envname("TRACEWEIR_PR");
  app.add_flag("--fork", options.fork, "the commit comes from a fork: never a baseline");
  app.add_option("--policy", options.policy,
                 "policy file (default: .traceweir.toml here or at the top of the work tree)")
      ->check(CLI::ExistingFile);
  app.add_option("--ci-run", options.ci_run, "the CI's id of its run: attempts of one run take each other's place")
      ->envname("TRACEWEIR_CI_RUN");
  app.add_option("--attempt", options.attempt, "attempt of the CI run")->envname("TRACEWEIR_ATTEMPT");
  app.add_option("--job", options.job, "name of the CI job")->envname("TRACEWEIR_JOB");
  app.add_option("--matrix", options.matrix, "which cell of the CI job's matrix")->envname("TRACEWEIR_MATRIX");
  app.add_option("--job-url", options.job_url, "address of the CI job")->envname("TRACEWEIR_JOB_URL");
  app.add_option("--env", options.environment, "KEY=VALUE that belongs to the environment class; repeatable")
      ->type_name("KEY=VALUE");
  app.add_option("--rank", options.rank, "rank that the (first) file begins with, where several jobs send one run")
      ->check(CLI::NonNegativeNumber)
      ->envname("TRACEWEIR_RANK");
  app.add_option("--ranks", options.ranks, "how many ranks the run has (default: the number of files)")
      ->check(CLI::PositiveNumber)
      ->envname("TRACEWEIR_RANKS");
  app.add_option("--run-key", options.run_key,
                 "what the uploads of one run have in common (default: CI run, attempt, job and matrix; a new one "
                 "where all ranks are given here)")
      ->envname("TRACEWEIR_RUN_KEY");
  app.add_option("--key", options.key, "idempotency key (default: a new one)")->envname("TRACEWEIR_KEY");
}

}  // namespace

Action declare_gate(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files,
                 "nsys SQLite export or report, Kineto JSON (plain, gzip or zstd), a report, output of nsys stats, or "
                 "metrics of your own; several are ranks of one run, in this order")
      ->required()
      ->check(CLI::ExistingFile);
  add_connection_options(app, options->connection);
  add_run_options(app, *options);
  add_reading_options(app, options->reading);
  app.add_option("--wait", options->wait, "seconds to wait for the verdict")
      ->check(CLI::Range(0, 600))
      ->capture_default_str();
  app.add_option("--on-unreachable", options->on_unreachable, "pass: exit 0 when the service cannot be reached")
      ->check(CLI::IsMember({"fail", "pass"}))
      ->capture_default_str();
  app.add_flag("--strict", options->strict, "exit 3 also while the baseline is still being built");
  app.add_flag("--dry-run", options->dry_run, "measure here and send nothing");
  app.add_flag("--json", options->json, "the run as the service answers it");
  app.footer(R"(Examples:
  export TRACEWEIR_URL=https://traceweir.example.org TRACEWEIR_TOKEN=twr_…
  traceweir gate trace.json.gz --project llama --workload ddp-8gpu
  traceweir gate report.sqlite --project llama --commit "$SHA" --branch main --env node=a100-1
  traceweir gate rank0.json.gz rank1.json.gz --project llama       two ranks of one run
  traceweir gate rank3.json.gz --rank 3 --ranks 8 --run-key "$CI_PIPELINE_ID"   one of eight jobs; the last one gets the
                                                                   verdict, the others exit 0

Exit codes: 0 pass, warn or a baseline still being built; 1 fail; 2 usage, or refused by the service;
3 inconclusive, or a trace that is refused; 4 the service cannot be reached.)");
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
