#include "server/s3/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <utility>

#include "analyzer/core/text.hpp"
#include "analyzer/core/version.hpp"
#include "server/hash/sha256.hpp"

namespace traceweir::s3 {
namespace {

/// Of an answer that is no object: lists are the longest, a thousand entries.
constexpr std::size_t answer_bytes_max = 4 << 20;
constexpr std::size_t shown_bytes_max = 200;
/// Whoever asks whether we are ready does not wait longer.
constexpr std::chrono::milliseconds look_time_max{5'000};

std::string time_text(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 24> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

bool may_succeed_later(unsigned status) { return status >= 500 || status == 408 || status == 425 || status == 429; }
bool is_success(unsigned status) { return status >= 200 && status < 300; }

tl::unexpected<Error> unavailable(const std::string& why) {
  return fail(ErrorCode::store_unavailable, "blob store: cannot be used now: " + why);
}

struct Hint {
  std::string_view code, text;
};
constexpr Hint hints[] = {
    {"RequestTimeTooSkewed", "this machine's clock and the store's differ too much"},
    {"SignatureDoesNotMatch", "the secret access key, the region or the endpoint is wrong"},
    {"InvalidAccessKeyId", "the store does not know this access key id"},
    {"AuthorizationHeaderMalformed", "s3_region is wrong"},
    {"NoSuchBucket", "there is no such bucket"},
    {"AccessDenied", "these credentials may not do this: s3:GetObject, PutObject, DeleteObject, ListBucket are needed"},
};

/// What the store says of a refusal, for an operator. Its text is a stranger's.
std::string said(const Answer& answer) {
  const std::string code = clean_text(element(answer.body, "Code").value_or(""), shown_bytes_max);
  std::string text = fmt::format("answered by {}", answer.status);
  if (!code.empty()) text += ' ' + code;
  for (const Hint& hint : hints)
    if (hint.code == code) text += fmt::format(" ({})", hint.text);
  if (answer.status >= 300 && answer.status < 400) text += " (redirects are not followed: look at s3_endpoint)";
  return text;
}

tl::unexpected<Error> refused(const Answer& answer) {
  if (answer.status == 404 && element(answer.body, "Code") == "NoSuchKey")
    return fail(ErrorCode::not_found, "the file is no longer kept");
  return unavailable(said(answer));
}

std::string etag_of(const Answer& answer) {
  const auto found = answer.headers.find("etag");
  return found == answer.headers.end() ? "" : found->second;
}

std::string list_of_parts(const std::vector<std::string>& etags) {
  std::string xml = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < etags.size(); ++i)
    xml += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, etags[i]);
  return xml + "</CompleteMultipartUpload>";
}

/// ETags go back into XML: only what an ETag may be.
bool is_etag(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '"' || c == '-' || c == '_';
  });
}

}  // namespace

struct Client::Question {
  std::string method, key;  ///< key empty: of the bucket
  Fields query{};
  std::span<const char> body{};
  Fields headers{};
  std::size_t answer_max = answer_bytes_max;
  unsigned tries_max = 0;                                                 ///< 0: as set
  std::chrono::milliseconds time_max = std::chrono::milliseconds::max();  ///< where it is less than what is set
};

Client::Client(Settings settings) : settings_(std::move(settings)), exchange_(settings_.endpoint) {}

void Client::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  exchange_.cancel();
}

/// Waits 1, 2, 4, … pauses, each between half and one and a half times as long. False: the service stops.
bool Client::wait_before(unsigned next_try) {
  std::unique_lock lock(mutex_);
  const double jitter = std::uniform_real_distribution<double>(0.5, 1.5)(random_);
  const double pauses = static_cast<double>(1U << std::min(next_try - 2, 16U));
  const auto pause = std::chrono::duration<double, std::milli>(settings_.pause) * pauses * jitter;
  return !changed_.wait_for(lock, pause, [this] { return stopped_; });
}

Result<Answer> Client::try_once(const Question& question) {
  TRACEWEIR_TRY(credentials, settings_.credentials.read());
  const std::string path = "/" + settings_.place.bucket + (question.key.empty() ? "" : "/" + question.key);
  const std::string time = time_text(std::time(nullptr));
  Signable signable{question.method, path, question.query, question.headers,
                    hash::sha256_hex({question.body.data(), question.body.size()})};
  signable.headers.emplace_back("host", settings_.endpoint.authority());
  signable.headers.emplace_back("x-amz-content-sha256", signable.payload_sha256);
  signable.headers.emplace_back("x-amz-date", time);
  if (!credentials.session_token.empty())
    signable.headers.emplace_back("x-amz-security-token", credentials.session_token);
  const std::string query = canonical_query(question.query);
  Outgoing outgoing{question.method, encoded(path, Slashes::kept) + (query.empty() ? "" : "?" + query),
                    signable.headers, question.body};
  outgoing.headers.emplace_back("authorization", authorization(signable, credentials, settings_.region, time));
  outgoing.headers.emplace_back("user-agent", std::string("traceweir/") + version);
  return exchange_.send(outgoing, {std::min(settings_.time_max, question.time_max), question.answer_max});
}

/// The answer of the last try, if it is a success.
Result<Answer> Client::ask(const Question& question) {
  const unsigned tries_max = question.tries_max == 0 ? settings_.tries_max : question.tries_max;
  for (unsigned number = 1;; ++number) {
    auto answer = try_once(question);
    if (answer && is_success(answer->status)) return answer;
    if (!answer && answer.error().code != ErrorCode::unreachable) return unavailable(answer.error().message);
    if (answer && !may_succeed_later(answer->status)) return refused(*answer);
    if (number >= tries_max || !wait_before(number + 1))
      return unavailable(answer ? said(*answer) : answer.error().message);
  }
}

Result<void> Client::look() {
  TRACEWEIR_TRY(answer, ask({.method = "HEAD", .key = "", .tries_max = 1, .time_max = look_time_max}));
  static_cast<void>(answer);
  return {};
}

Result<void> Client::put(const std::string& key, std::span<const char> body) {
  TRACEWEIR_TRY(answer, ask({.method = "PUT", .key = key, .body = body}));
  static_cast<void>(answer);
  return {};
}

Result<std::string> Client::begin_parts(const std::string& key) {
  TRACEWEIR_TRY(answer, ask({.method = "POST", .key = key, .query = {{"uploads", ""}}}));
  auto id = element(answer.body, "UploadId");
  if (!id || id->empty()) return unavailable("an upload in parts was begun without an id");
  return *std::move(id);
}

Result<std::string> Client::put_part(const std::string& key, const std::string& upload, std::size_t number,
                                     std::span<const char> body) {
  TRACEWEIR_TRY(answer, ask({.method = "PUT",
                             .key = key,
                             .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload}},
                             .body = body}));
  std::string etag = etag_of(answer);
  if (!is_etag(etag)) return unavailable("a part was answered without an ETag");
  return etag;
}

/// The answer may be 200 with an error in it: the store keeps the connection alive while it works.
Result<void> Client::complete_parts(const std::string& key, const std::string& upload,
                                    const std::vector<std::string>& etags) {
  const std::string body = list_of_parts(etags);
  TRACEWEIR_TRY(answer, ask({.method = "POST", .key = key, .query = {{"uploadId", upload}}, .body = body}));
  if (answer.body.find("<CompleteMultipartUploadResult") == std::string::npos) return unavailable(said(answer));
  return {};
}

Result<void> Client::abort_parts(const std::string& key, const std::string& upload) {
  TRACEWEIR_TRY(answer, ask({.method = "DELETE", .key = key, .query = {{"uploadId", upload}}}));
  static_cast<void>(answer);
  return {};
}

Result<std::uint64_t> Client::size_of(const std::string& key) {
  TRACEWEIR_TRY(answer, ask({.method = "HEAD", .key = key}));
  const auto length = answer.headers.find("content-length");
  if (length == answer.headers.end() || length->second.empty() || length->second.size() > 18 ||
      length->second.find_first_not_of("0123456789") != std::string::npos)
    return unavailable("an object was described without its size");
  return std::stoull(length->second);
}

Result<std::string> Client::get(const std::string& key, std::uint64_t begin, std::uint64_t bytes) {
  TRACEWEIR_TRY(answer, ask({.method = "GET",
                             .key = key,
                             .headers = {{"range", fmt::format("bytes={}-{}", begin, begin + bytes - 1)}},
                             .answer_max = std::max<std::size_t>(bytes, answer_bytes_max)}));
  if (answer.body.size() != bytes) return unavailable("a range of an object came back with another size");
  return std::move(answer.body);
}

Result<void> Client::remove(const std::string& key) {
  const auto answer = ask({.method = "DELETE", .key = key});
  if (answer || answer.error().code == ErrorCode::not_found) return {};
  return tl::unexpected(answer.error());
}

Result<ListedNow> Client::list(const std::string& prefix, const std::string& from) {
  Fields query{{"list-type", "2"}, {"prefix", prefix}};
  if (!from.empty()) query.emplace_back("continuation-token", from);
  TRACEWEIR_TRY(answer, ask({.method = "GET", .key = "", .query = std::move(query)}));
  auto listing = listing_of(answer.body);
  if (!listing) return unavailable("a list of objects is none");
  const auto date = answer.headers.find("date");
  const auto now = date == answer.headers.end() ? std::nullopt : time_of_header(date->second);
  return ListedNow{*std::move(listing), now.value_or(std::time(nullptr))};
}

}  // namespace traceweir::s3
