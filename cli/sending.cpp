#include "cli/sending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include "analyzer/core/text.hpp"
#include "cli/patience.hpp"
#include "cli/progress.hpp"
#include "cli/reading.hpp"
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

/// A proxy on the way may end what is silent for a minute: the service is asked to wait for less, and asked again.
constexpr std::int64_t wait_at_once_max = 45;
constexpr std::chrono::seconds ask_again_after{2};

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

/// How the service reads the trace; a report was read here.
void add_reading(PathWithQuery& path, const ReadingOptions& reading) {
  path.add("window", reading.window.value_or(""));
  path.add("steps", reading.steps.value_or(""));
  if (reading.skip) path.add("skip_steps", std::to_string(*reading.skip));
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
  if (!options.edge) add_reading(path, options.reading);
  if (options.rank || options.ranks) path.add("rank", std::to_string(rank));
  if (options.ranks) path.add("ranks", std::to_string(*options.ranks));
  path.add("run_key", options.run_key);
  path.add("name", std::filesystem::path(file).filename().string());
  path.add("wait", std::to_string(std::min(options.wait, wait_at_once_max)));
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

/// The service's answer to one part. Errors: those of the client and of the service.
Result<std::string> send_part(const Submission& submission, const Part& part, std::int64_t rank) {
  TRACEWEIR_TRY(path, upload_path(submission, part.name, rank));
  ClientRequest request;
  request.method = "POST";
  request.path = path;
  if (part.file) request.file = part.file->path().string();
  request.text = part.text;
  request.packing = part.packing;
  request.headers = {{"Content-Type", "application/octet-stream"}, {"Idempotency-Key", key_of(submission, part, rank)}};
  // A packed body has a checksum of its own in its frame.
  if (part.packing == Packing::as_is) request.headers.emplace_back("X-Content-SHA256", part.sha256);
  request.progress = progress_of(clean_text(std::filesystem::path(part.name).filename().string(), 40));
  auto answer = send_with_patience(submission.client, request);
  clear_progress();
  if (!answer) return tl::unexpected(std::move(answer).error());
  if (answer->status != 201 && answer->status != 202) return tl::unexpected(error_of(*answer));
  return std::move(answer->body);
}

/// Asks for the run until it is judged or the time to wait is over. Errors: those of the client and of the service.
Result<std::string> wait_for_verdict(const Submission& submission, std::string answer,
                                     std::chrono::steady_clock::time_point end) {
  while (true) {
    const auto run = wire::run_from_json(answer);
    const auto now = std::chrono::steady_clock::now();
    if (!run || run->status != "analysing" || now >= end || run->self.empty()) return answer;
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(ask_again_after, end - now));
    ClientRequest request;
    request.path = run->self;
    TRACEWEIR_TRY(next, send_with_patience(submission.client, request));
    if (next.status == 401 || next.status == 403) return answer;  // a token that may upload only
    if (next.status != 200) return tl::unexpected(error_of(next));
    answer = std::move(next.body);
  }
}

/// The first rank that the run still lacks: a file may hold several.
std::int64_t next_rank(const std::string& answer, std::int64_t rank) {
  const auto run = wire::run_from_json(answer);
  const bool known = run && run->ranks && !run->ranks->missing.empty();
  return known ? run->ranks->missing.front() : rank + 1;
}

Error about_file(const std::string& file, std::size_t files, Error error) {
  if (files > 1) error.message = fmt::format("{}: {}", clean_text(file), error.message);
  return error;
}

/// Errors: as parts_of.
Result<Part> part_of(const std::string& file, const GateOptions& options) {
  TRACEWEIR_TRY(readable, ReadableFile::of(file, options.reading.exporting()));
  const std::string path = readable.path().string();
  TRACEWEIR_TRY(sha256, hash::sha256_of_file(path));
  TRACEWEIR_TRY(packing, packing_of_file(path));
  if (options.compression == "none") packing = Packing::as_is;
  return Part{file, std::move(readable), "", std::move(sha256), packing};
}

/// The report of all files as the only part. Errors: as analyze_files.
Result<Part> edge_part(const std::vector<std::string>& files, const GateOptions& options) {
  TRACEWEIR_TRY(report, analyze_files(files, options.reading, Hashing::sha256));
  std::string text = report::to_json(report);
  const Packing packing = options.compression == "none" ? Packing::as_is : packing_of(text, text.size());
  std::string sha256 = hash::sha256_hex(text);
  return Part{files.front(), std::nullopt, std::move(text), std::move(sha256), packing};
}

}  // namespace

Result<std::vector<Part>> parts_of(const std::vector<std::string>& files, const GateOptions& options) {
  std::vector<Part> parts;
  if (options.edge) {
    TRACEWEIR_TRY(part, edge_part(files, options));
    parts.push_back(std::move(part));
    return parts;
  }
  for (const std::string& file : files) {
    auto part = part_of(file, options);
    if (!part) return tl::unexpected(about_file(file, files.size(), std::move(part).error()));
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
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(submission.options.wait);
  std::int64_t rank = submission.options.rank.value_or(0);
  std::string answer;
  for (const Part& part : parts) {
    if (!answer.empty()) rank = next_rank(answer, rank);
    auto sent = send_part(submission, part, rank);
    if (!sent) return tl::unexpected(about_file(part.name, parts.size(), std::move(sent).error()));
    answer = *std::move(sent);
  }
  return wait_for_verdict(submission, std::move(answer), end);
}

}  // namespace traceweir::cli
