#include "server/api/upload_query.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "analyzer/core/text.hpp"
#include "server/hash/sha256.hpp"
#include "server/store/run_group.hpp"
#include "server/wire/commit_list.hpp"

namespace traceweir::api {
namespace {

constexpr std::size_t branch_bytes_max = 255;
constexpr std::size_t text_bytes_max = 1024;
constexpr std::size_t environment_keys_max = 64;
constexpr std::size_t key_bytes_max = 255;
/// Where a CI does not count attempts, the id of its job is one; larger numbers are not exact in every JSON reader.
constexpr std::int64_t attempt_max = std::int64_t{1} << 53;

/// Hex digits may come in either case; they are kept in one.
std::string lower_hex(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
  return text;
}

/// Reads parameters one by one; the first mistake wins and is asked for once, at the end.
class Parameters {
 public:
  explicit Parameters(const http::Query& query) : query_(query) {}

  std::optional<std::string> raw(std::string_view key) {
    auto value = query_.one(key);
    if (!value) {
      refuse(std::move(value).error());
      return std::nullopt;
    }
    return *value;
  }

  std::string text(std::string_view key, std::size_t bytes_max = text_bytes_max) {
    const std::string value = raw(key).value_or("");
    if (value.size() > bytes_max) refuse(key, fmt::format("longer than {} bytes", bytes_max));
    return clean_text(value, bytes_max + 64);
  }

  std::string name(std::string_view key, std::string_view otherwise) {
    const std::string value = raw(key).value_or(std::string(otherwise));
    if (!is_name(value)) refuse(key, "expected 1 to 128 letters, digits, '.', '_' or '-'");
    return value;
  }

  std::string commit(std::string_view key) {
    const std::string value = lower_hex(raw(key).value_or(""));
    if (!value.empty() && !wire::is_commit(value)) refuse(key, "expected a full commit id of 40 or 64 hex digits");
    return value;
  }

  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most) {
    const auto value = raw(key);
    if (!value) return std::nullopt;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    const bool whole = error == std::errc{} && end == value->data() + value->size();
    if (whole && least <= number && number <= most) return number;
    refuse(key, least == most ? fmt::format("expected {}", least)
                              : fmt::format("expected a whole number from {} to {}", least, most));
    return std::nullopt;
  }

  bool flag(std::string_view key) {
    const auto value = raw(key);
    if (!value || *value == "false" || *value == "0") return false;
    if (*value != "true" && *value != "1") refuse(key, "expected true or false");
    return true;
  }

  void refuse(std::string_view key, std::string_view why) {
    refuse(Error{ErrorCode::bad_query, fmt::format("{}: {}", key, why)});
  }
  void refuse(Error error) {
    if (!error_) error_ = std::move(error);
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const http::Query& query_;
  std::optional<Error> error_;
};

void read_head(Parameters& in, store::RunHead& head) {
  head.workload = in.name("workload", "default");
  head.commit = in.commit("commit");
  if (head.commit.empty()) in.refuse("commit", "missing: which commit was measured?");
  head.branch = in.text("branch", branch_bytes_max);
  head.base_branch = in.text("base_branch", branch_bytes_max);
  head.head = in.commit("head");
  head.base = in.commit("base");
  head.pull_request = in.integer("pr", 1, std::numeric_limits<std::int32_t>::max());
  head.fork = in.flag("fork");
  head.attempt = in.integer("attempt", 1, attempt_max).value_or(1);
  head.ci_run = in.text("ci_run");
  head.job = in.text("job");
  head.matrix = in.text("matrix");
  head.job_url = in.text("job_url");
  head.steps_glob = in.text("steps", 256);
  head.window = in.text("window", 64);
  head.skip_steps = in.integer("skip_steps", 0, 1'000'000);
}

std::vector<std::string> read_parents(Parameters& in) {
  std::vector<std::string> parents;
  std::string list = in.raw("parents").value_or("");
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parents.push_back(list.substr(begin, end - begin));
    if (!wire::is_commit(parents.back())) in.refuse("parents", "expected full commit ids, separated by commas");
    begin = end + 1;
  }
  if (parents.size() > wire::parents_max) in.refuse("parents", fmt::format("at most {}", wire::parents_max));
  return parents;
}

void read_environment(Parameters& in, const http::Query& query, store::RunHead& head) {
  auto items = query.with_prefix("env.");
  if (!items) return in.refuse(std::move(items).error());
  if (items->size() > environment_keys_max) in.refuse("env.*", fmt::format("at most {} keys", environment_keys_max));
  for (const http::Query::Item& item : *items) {
    if (!is_name(item.key)) in.refuse("env." + clean_text(item.key, 64), "expected letters, digits, '.', '_' or '-'");
    head.environment[item.key] = clean_text(item.value, 256);
  }
}

/// `sha-256=<base64>` of a Digest header, as hex; empty: another algorithm, or not well formed.
std::string digest_of(const std::string& header) {
  constexpr std::string_view algorithm = "sha-256=";
  std::string lower = header.substr(0, algorithm.size());
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string base64 = lower == algorithm ? header.substr(algorithm.size()) : "";
  if (base64.size() != 44) return {};
  std::array<unsigned char, 33> bytes{};
  const auto* text = reinterpret_cast<const unsigned char*>(base64.data());
  if (EVP_DecodeBlock(bytes.data(), text, static_cast<int>(base64.size())) != 33) return {};
  std::string hex;
  for (std::size_t i = 0; i < 32; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

void read_headers(Parameters& in, const http::Request& request, UploadQuery& upload) {
  constexpr std::array encodings = {"identity", "gzip", "x-gzip", "zstd"};
  const std::string encoding = request.header("content-encoding").value_or("identity");
  if (std::find(encodings.begin(), encodings.end(), encoding) == encodings.end())
    in.refuse(Error{ErrorCode::unsupported_encoding, "Content-Encoding: expected gzip, zstd or none"});
  upload.head.idempotency_key = request.header("idempotency-key").value_or("");
  if (upload.head.idempotency_key.size() > key_bytes_max)
    in.refuse("Idempotency-Key", fmt::format("longer than {} bytes", key_bytes_max));
  if (clean_text(upload.head.idempotency_key, 8 * key_bytes_max) != upload.head.idempotency_key)
    in.refuse("Idempotency-Key", "expected UTF-8 without control characters");
  if (const auto hash = request.header("x-content-sha256")) {
    upload.sha256 = lower_hex(*hash);
    if (!hash::is_sha256(upload.sha256)) in.refuse("X-Content-SHA256", "expected 64 hex digits");
  } else if (const auto digest = request.header("digest")) {
    upload.sha256 = digest_of(*digest);
    if (upload.sha256.empty()) in.refuse("Digest", "expected sha-256=<base64>");
  }
}

/// Which ranks the upload is, and of which run.
void read_ranks(Parameters& in, const ApiLimits& limits, UploadQuery& upload) {
  store::RunHead& head = upload.head;
  head.run_key = in.text("run_key");
  head.ranks_expected = in.integer("ranks", 1, limits.ranks_max).value_or(0);
  upload.rank = in.integer("rank", 0, limits.ranks_max - 1).value_or(0);
  if (head.ranks_expected > 0 && upload.rank >= head.ranks_expected)
    in.refuse("rank",
              fmt::format("{} is none of {} ranks, which are counted from 0", upload.rank, head.ranks_expected));
  head.group = store::group_of(head);
  if (head.ranks_expected == 0 && (upload.rank > 0 || !head.run_key.empty()))
    upload.warnings.push_back("ranks: not stated, so no further rank is waited for");
  if (head.ranks_expected > 1 && head.group.empty())
    upload.warnings.push_back("run_key: neither it nor ci_run is stated, so no other upload can be of this run");
}

}  // namespace

bool is_name(std::string_view text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.size() <= 128 && text.front() != '.' &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

Result<UploadQuery> upload_query(const http::Request& request, const ApiLimits& limits) {
  TRACEWEIR_TRY_VOID(request.query.only(
      {"workload", "commit",     "branch",  "base_branch", "head",   "base", "parents",    "pr",      "fork",
       "rank",     "ranks",      "run_key", "attempt",     "ci_run", "job",  "matrix",     "job_url", "env.*",
       "steps",    "skip_steps", "window",  "policy",      "name",   "wait", "fail_status"}));
  UploadQuery upload;
  Parameters in(request.query);
  read_head(in, upload.head);
  upload.parents = read_parents(in);
  read_environment(in, request.query, upload.head);
  read_headers(in, request, upload);
  read_ranks(in, limits, upload);
  upload.policy = in.text("policy", 64);
  if (!upload.policy.empty() && !hash::is_sha256(upload.policy))
    in.refuse("policy", "expected the SHA-256 of a policy that was sent before");
  upload.name = in.text("name", 255);
  upload.wait =
      std::chrono::seconds{in.integer("wait", 0, limits.wait_max.count()).value_or(limits.wait_default.count())};
  if (in.integer("fail_status", 424, 424)) upload.fail_status = FailStatus::failed_dependency;
  if (in.error()) return tl::unexpected(*in.error());
  if (upload.head.branch.empty())
    upload.warnings.push_back("branch: not stated, so this run will never serve as a baseline");
  return upload;
}

}  // namespace traceweir::api
