#include "server/http/head.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <charconv>
#include <utility>

#include "server/http/ascii.hpp"
#include "server/http/target.hpp"

namespace traceweir::http {
namespace {

namespace beast_http = boost::beast::http;

/// Fields that decide something; two of them would leave it to the reader which one counts.
constexpr std::array<std::string_view, 10> fields_given_once = {
    "host",   "content-length",   "transfer-encoding", "content-type",    "content-encoding",
    "expect", "x-content-sha256", "authorization",     "idempotency-key", "x-request-id"};

constexpr unsigned http_1_0 = 10;
constexpr unsigned http_1_1 = 11;

tl::unexpected<Refusal> refuse(Status status, ErrorCode code, std::string message) {
  return tl::unexpected(Refusal{status, {code, std::move(message)}});
}

tl::unexpected<Refusal> bad(std::string message) {
  return refuse(Status::bad_request, ErrorCode::bad_request, std::move(message));
}

using Checked = tl::expected<void, Refusal>;

/// What Beast would accept or join: folded fields, and too many of them.
Checked check_lines(std::string_view head, const HttpLimits& limits) {
  if (!head.ends_with("\r\n\r\n")) return bad("the head is not complete");
  std::size_t lines = 0;
  for (std::size_t begin = head.find("\r\n") + 2; head.substr(begin) != "\r\n"; begin = head.find("\r\n", begin) + 2) {
    if (head[begin] == ' ' || head[begin] == '\t') return bad("a folded header field");
    if (++lines > limits.header_count_max)
      return bad("more than header_count_max = " + std::to_string(limits.header_count_max) + " header fields");
  }
  return {};
}

Checked check_target(std::string_view target, const HttpLimits& limits) {
  if (target.size() > limits.target_bytes_max)
    return bad("the request target is longer than " + std::to_string(limits.target_bytes_max) + " bytes");
  const auto printable = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!std::all_of(target.begin(), target.end(), printable))
    return bad("the request target holds bytes outside printable ASCII");
  if (!target.starts_with('/')) return bad("the request target is not a path that begins with `/`");
  return {};
}

std::optional<std::string_view> field_of(const Head& head, std::string_view name) {
  for (const Header& field : head.headers)
    if (field.name == name) return field.value;
  return std::nullopt;
}

Checked check_given_once(const Head& head) {
  for (const std::string_view name : fields_given_once) {
    const auto same = [&](const Header& field) { return field.name == name; };
    if (std::count_if(head.headers.begin(), head.headers.end(), same) > 1)
      return bad("the header field " + std::string(name) + " is given more than once");
  }
  return {};
}

Checked check_host(const Head& head) {
  const auto host = field_of(head, "host");
  if (!host || host->empty()) return bad("the header field host is missing");
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
  if (host->find_first_not_of(allowed) != std::string_view::npos) return bad("the header field host is no host");
  return {};
}

tl::expected<std::uint64_t, Refusal> length_of(std::string_view text) {
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || length > INT64_MAX)
    return bad("the header field content-length is not a length");
  return length;
}

bool needs_length(Verb verb) { return verb == Verb::post || verb == Verb::put || verb == Verb::patch; }

/// Where the body ends. The one place that decides it.
Checked read_framing(Head& head, unsigned version) {
  const auto coding = field_of(head, "transfer-encoding");
  const auto length = field_of(head, "content-length");
  if (coding && version == http_1_0) return bad("HTTP/1.0 has no transfer-encoding");
  if (coding && length) return bad("content-length together with transfer-encoding");
  if (coding) {
    if (*coding != "chunked")
      return refuse(Status::not_implemented, ErrorCode::unsupported_encoding,
                    "the only transfer-encoding is `chunked`");
    head.framing = Framing::chunked;
    return {};
  }
  if (length) {
    const auto bytes = length_of(*length);
    if (!bytes) return tl::unexpected(bytes.error());
    head.body_bytes = *bytes;
  } else if (needs_length(head.verb)) {
    return refuse(Status::length_required, ErrorCode::length_required,
                  "a body needs a content-length or `transfer-encoding: chunked`");
  }
  return {};
}

Checked read_expect(Head& head) {
  const auto expect = field_of(head, "expect");
  if (!expect) return {};
  if (!equal_ignoring_case(*expect, "100-continue"))
    return refuse(Status::expectation_failed, ErrorCode::bad_request, "the only expectation is `100-continue`");
  head.expects_continue = true;
  return {};
}

bool wants_close(const Head& head) {
  for (const Header& field : head.headers) {
    if (field.name != "connection") continue;
    for (const std::string_view option : split(field.value, ','))
      if (equal_ignoring_case(trimmed(option), "close")) return true;
  }
  return false;
}

/// Names that a secret has in URLs elsewhere.
constexpr std::array<std::string_view, 5> secret_names = {"token", "access_token", "id_token", "jwt", "authorization"};

bool is_secret(const Query::Item& item) {
  const auto same = [&](std::string_view name) { return equal_ignoring_case(name, item.key); };
  return std::any_of(secret_names.begin(), secret_names.end(), same) || holds_token(item.key) ||
         holds_token(item.value);
}

/// URLs are written into logs and histories, ours and those of others, so that no token may be in one.
Checked check_no_token(const Head& head) {
  const auto& items = head.query.items();
  if (std::any_of(head.segments.begin(), head.segments.end(), &holds_token) ||
      std::any_of(items.begin(), items.end(), &is_secret))
    return bad("a token belongs in the Authorization header, not in the URL");
  return {};
}

Checked read_target(Head& head, std::string_view target) {
  const std::size_t mark = std::min(target.find('?'), target.size());
  head.path = target.substr(0, mark);
  if (target.find('#') != std::string_view::npos) return bad("the request target holds a fragment");
  auto segments = path_segments(head.path);
  if (!segments) return tl::unexpected(Refusal{Status::bad_request, std::move(segments).error()});
  auto query = Query::parse(target.substr(std::min(mark + 1, target.size())));
  if (!query) return tl::unexpected(Refusal{Status::bad_request, std::move(query).error()});
  head.segments = *std::move(segments);
  head.query = *std::move(query);
  return check_no_token(head);
}

using Parser = beast_http::request_parser<beast_http::empty_body>;

/// Beast checks the grammar: tokens, spaces, control characters, lengths that do not agree.
Checked run_parser(Parser& parser, std::string_view head) {
  boost::system::error_code error;
  parser.header_limit(static_cast<std::uint32_t>(head.size()) + 1);
  parser.body_limit(boost::none);
  parser.skip(true);
  parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (error || !parser.is_header_done()) return bad("not a valid HTTP head: " + error.message());
  return {};
}

/// The checks of the request line, on what Beast has split.
tl::expected<Verb, Refusal> verb_and_version(const Parser& parser, const HttpLimits& limits) {
  const auto& message = parser.get();
  if (message.version() != http_1_0 && message.version() != http_1_1) return bad("the version is not HTTP/1.0 or 1.1");
  const auto verb = verb_of(std::string_view(message.method_string().data(), message.method_string().size()));
  if (!verb) return refuse(Status::not_implemented, ErrorCode::method_not_allowed, "this method is not known here");
  const Checked target = check_target({message.target().data(), message.target().size()}, limits);
  if (!target) return tl::unexpected(target.error());
  return *verb;
}

}  // namespace

HeadScan::State HeadScan::look_at(std::string_view bytes) {
  for (; at_ < bytes.size(); ++at_) {
    const char c = bytes[at_];
    if (c == '\0') return State::broken;
    const bool after_cr = at_ > 0 && bytes[at_ - 1] == '\r';
    if (after_cr != (c == '\n')) return State::broken;
    if (c != '\n') continue;
    const bool empty_line = at_ == line_begin_ + 1;
    if (empty_line && line_begin_ == 0) return State::broken;
    line_begin_ = at_ + 1;
    if (empty_line) {
      at_ = line_begin_;
      return State::complete;
    }
  }
  return State::incomplete;
}

RequestLine request_line_of(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view rest = line.substr(space + 1);
  return {std::string(line.substr(0, space)), std::string(rest.substr(0, rest.find_first_of(" ?#")))};
}

tl::expected<Head, Refusal> parse_head(std::string_view bytes, const HttpLimits& limits) {
  Checked checked = check_lines(bytes, limits);
  Parser parser;
  if (checked) checked = run_parser(parser, bytes);
  if (!checked) return tl::unexpected(checked.error());
  const auto verb = verb_and_version(parser, limits);
  if (!verb) return tl::unexpected(verb.error());

  Head head;
  head.verb = *verb;
  for (const auto& field : parser.get())
    head.headers.push_back({lower(std::string_view(field.name_string().data(), field.name_string().size())),
                            std::string(field.value().data(), field.value().size())});
  const unsigned version = parser.get().version();
  head.keep_alive = version == http_1_1 && !wants_close(head);

  checked = check_given_once(head);
  if (checked) checked = check_host(head);
  if (checked) checked = read_framing(head, version);
  if (checked) checked = read_expect(head);
  if (checked) checked = read_target(head, {parser.get().target().data(), parser.get().target().size()});
  if (!checked) return tl::unexpected(checked.error());
  return head;
}

}  // namespace traceweir::http
