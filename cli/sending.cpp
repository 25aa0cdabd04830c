#include "cli/sending.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <utility>

#include "analyzer/core/text.hpp"
#include "cli/patience.hpp"
#include "server/hash/sha256.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

std::string new_key() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// As many digits as keep the contents of all jobs apart.
constexpr std::size_t hash_digits = 32;

/// The parameters that a fact of the environment is sent as.
struct Parameter {
  Fact fact;
  const char* name;
};
constexpr Parameter parameters[] = {
    {Fact::commit, "commit"}, {Fact::branch, "branch"}, {Fact::base, "base"},     {Fact::base_branch, "base_branch"},
    {Fact::head, "head"},     {Fact::pr, "pr"},         {Fact::fork, "fork"},     {Fact::attempt, "attempt"},
    {Fact::ci_run, "ci_run"}, {Fact::job, "job"},       {Fact::matrix, "matrix"}, {Fact::job_url, "job_url"}};

/// Errors: usage.
Result<void> add_environment(PathWithQuery& path, const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorCode::usage, fmt::format("--env '{}': expected KEY=VALUE", clean_text(item, 80)));
    path.add("env." + item.substr(0, equals), item.substr(equals + 1));
  }
  return {};
}

/// Errors: usage.
Result<std::string> upload_path(const Submission& submission, const std::string& file, std::int64_t rank) {
  const GateOptions& options = submission.options;
  if (submission.ci.text(Fact::commit).empty())
    return fail(ErrorCode::usage,
                "which commit was measured? Give --commit (or TRACEWEIR_COMMIT), or run inside the git work tree");
  PathWithQuery path(fmt::format("/api/v1/projects/{}/runs", wire::percent_encoded(options.connection.project)));
  path.add("workload", options.workload);
  for (const Parameter& parameter : parameters) path.add(parameter.name, submission.ci.text(parameter.fact));
  path.add("parents", fmt::format("{}", fmt::join(submission.ci.parents, ",")));
  path.add("window", options.reading.window.value_or(""));
  path.add("steps", options.reading.steps.value_or(""));
  if (options.reading.skip) path.add("skip_steps", std::to_string(*options.reading.skip));
  if (options.rank || options.ranks) path.add("rank", std::to_string(rank));
  if (options.ranks) path.add("ranks", std::to_string(*options.ranks));
  path.add("run_key", options.run_key);
  path.add("name", std::filesystem::path(file).filename().string());
  path.add("wait", std::to_string(options.wait));
  path.add("policy", submission.policy);
  TRACEWEIR_TRY_VOID(add_environment(path, options.environment));
  return path.text();
}

/// The same job that sends the same file again finds its run; without a CI every call is a sample of its own.
std::string key_of(const Submission& submission, const Part& part, std::int64_t rank) {
  const GateOptions& options = submission.options;
  const bool several = options.rank || options.ranks;
  if (!options.key.empty()) return several ? fmt::format("{}/{}", options.key, rank) : options.key;
  if (submission.ci.key.empty()) return new_key();
  const std::string sent =
      fmt::format("{}\n{}\n{}\n{}", options.workload, submission.ci.text(Fact::commit), rank, part.sha256);
  return submission.ci.key + "/" + hash::sha256_hex(sent).substr(0, hash_digits);
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

/// The service's answer to one file. Errors: those of the client and of the service.
Result<std::string> send_part(const Submission& submission, const Part& part, std::int64_t rank) {
  TRACEWEIR_TRY(path, upload_path(submission, part.name, rank));
  ClientRequest request;
  request.method = "POST";
  request.path = path;
  request.file = part.file.path().string();
  request.headers = {{"Content-Type", "application/octet-stream"},
                     {"X-Content-SHA256", part.sha256},
                     {"Idempotency-Key", key_of(submission, part, rank)}};
  request.progress = progress_bar();
  TRACEWEIR_TRY(answer, send_with_patience(submission.client, request));
  if (answer.status != 201 && answer.status != 202) return tl::unexpected(error_of(answer));
  return std::move(answer.body);
}

/// The first rank that the run still lacks: a file may hold several.
std::int64_t next_rank(const std::string& answer, std::int64_t rank) {
  const auto run = wire::run_from_json(answer);
  const bool known = run && run->ranks && !run->ranks->missing.empty();
  return known ? run->ranks->missing.front() : rank + 1;
}

Error about(const std::string& file, std::size_t files, Error error) {
  if (files > 1) error.message = fmt::format("{}: {}", clean_text(file), error.message);
  return error;
}

/// Errors: as parts_of.
Result<Part> part_of(const std::string& file, const GateOptions& options) {
  TRACEWEIR_TRY(readable, ReadableFile::of(file, options.reading.exporting()));
  TRACEWEIR_TRY(sha256, hash::sha256_of_file(readable.path().string()));
  return Part{file, std::move(readable), std::move(sha256)};
}

}  // namespace

Result<std::vector<Part>> parts_of(const GateOptions& options) {
  std::vector<Part> parts;
  for (const std::string& file : options.files) {
    auto part = part_of(file, options);
    if (!part) return tl::unexpected(about(file, options.files.size(), std::move(part).error()));
    parts.push_back(*std::move(part));
  }
  return parts;
}

Result<void> fill_in_ranks(GateOptions& options, const CiEnvironment& ci, const std::vector<Part>& parts) {
  const std::int64_t files = std::ssize(parts);
  if (files > 1 && !options.ranks) options.ranks = files;
  const bool whole = files == 1 && !options.rank && options.ranks.value_or(1) == 1;
  if (whole || !options.run_key.empty()) return {};
  const bool others = options.rank.value_or(0) > 0 || options.ranks.value_or(files) > files || !options.ranks;
  if (!others) {  // all ranks are here: the same ones sent again are the same run, others are another
    std::string contents;
    for (const Part& part : parts) contents += part.sha256;
    options.run_key = ci.key.empty() ? new_key() : ci.key + "/" + hash::sha256_hex(contents).substr(0, hash_digits);
    return {};
  }
  if (const std::string run = ci.text(Fact::ci_run); !run.empty()) options.run_key = ci.ci + "/" + run;
  if (!options.run_key.empty() || !options.ranks) return {};
  return fail(ErrorCode::usage,
              fmt::format("the run has {} ranks and not all of them are given here: say which run it is with "
                          "--run-key (TRACEWEIR_RUN_KEY) or --ci-run (TRACEWEIR_CI_RUN), the same in every job",
                          *options.ranks));
}

Result<void> check_submission(const Submission& submission) {
  TRACEWEIR_TRY_VOID(upload_path(submission, "", 0));
  return {};
}

Result<std::string> send_parts(const Submission& submission, const std::vector<Part>& parts) {
  std::int64_t rank = submission.options.rank.value_or(0);
  std::string answer;
  for (const Part& part : parts) {
    if (!answer.empty()) rank = next_rank(answer, rank);
    auto sent = send_part(submission, part, rank);
    if (!sent) return tl::unexpected(about(part.name, parts.size(), std::move(sent).error()));
    answer = *std::move(sent);
  }
  return answer;
}

}  // namespace traceweir::cli
