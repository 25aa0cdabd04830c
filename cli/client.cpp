#include "cli/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/url/parse.hpp>
#include <exception>
#include <stdexcept>

#include "analyzer/core/text.hpp"
#include "analyzer/core/version.hpp"
#include "cli/connection_stream.hpp"
#include "server/wire/json.hpp"

namespace traceweir::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::chrono::seconds connect_time_max{10};
constexpr std::chrono::seconds send_time_max{60};     // without any progress
constexpr std::chrono::seconds answer_time_max{700};  // a verdict may be waited for (wait=600)
constexpr std::size_t body_buffer_bytes = 256 * 1024;
constexpr std::string_view last_chunk = "0\r\n\r\n";
constexpr std::size_t read_buffer_bytes = 64 * 1024;
constexpr std::uint64_t answer_bytes_max = std::uint64_t{64} << 20;

struct Target {
  const ServiceUrl& url;
  const std::string& token;
  const std::optional<Proxy>& proxy;
};

/// How the end of the body is told. A request that has none tells nothing.
std::string framing_of(const ClientRequest& request, const BodySource& body) {
  if (request.method == "GET") return "";
  if (const auto length = body.length()) return fmt::format("Content-Length: {}\r\n", *length);
  return "Transfer-Encoding: chunked\r\n";
}

std::string head_of(const ClientRequest& request, const Target& target, const BodySource& body) {
  const bool is_ipv6 = target.url.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + target.url.host + "]" : target.url.host;
  std::string head = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: traceweir/{}\r\nConnection: close\r\n",
                                 request.method, target.url.base, request.path, host, target.url.port, version);
  if (!target.token.empty()) head += fmt::format("Authorization: Bearer {}\r\n", target.token);
  for (const auto& [name, value] : request.headers) head += fmt::format("{}: {}\r\n", name, value);
  return head + framing_of(request, body) + "\r\n";
}

/// The next piece of the body as it goes over the wire; empty: there is no more. Throws std::runtime_error.
std::string next_piece(BodySource& body, std::vector<char>& buffer) {
  const auto count = body.read(buffer);
  if (!count) throw std::runtime_error(count.error().message);
  const std::string_view bytes(buffer.data(), *count);
  if (body.length()) return std::string(bytes);
  return bytes.empty() ? std::string(last_chunk) : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

/// Sends head and body. The service may answer early and close (a refused upload): then writing fails, and the answer
/// is still there to be read.
asio::awaitable<void> write(Stream& stream, const ClientRequest& request, const Target& target) {
  auto opened = body_source({request.file, request.text, request.packing});
  if (!opened) throw std::runtime_error(opened.error().message);
  BodySource& body = **opened;
  std::vector<char> buffer(body_buffer_bytes);
  std::string piece = head_of(request, target, body);
  try {
    while (!piece.empty()) {
      stream.allow(send_time_max);
      co_await stream.write(asio::buffer(piece));
      if (request.progress && body.total() > 0) request.progress(body.done(), body.total());
      piece = piece == last_chunk ? "" : next_piece(body, buffer);
    }
  } catch (const boost::system::system_error&) {
    co_return;
  }
}

asio::awaitable<ClientAnswer> read(Stream& stream) {
  http::response_parser<http::string_body> parser;
  parser.body_limit(answer_bytes_max);
  parser.eager(true);
  beast::flat_buffer buffer;
  stream.allow(answer_time_max);
  while (!parser.is_done()) {
    const std::size_t count = co_await stream.read(buffer.prepare(read_buffer_bytes));
    boost::system::error_code error;
    buffer.commit(count);
    if (count == 0 && !parser.got_some()) throw boost::system::system_error(http::error::end_of_stream);
    if (count == 0)
      parser.put_eof(error);
    else
      buffer.consume(parser.put(buffer.data(), error));
    if (error && error != http::error::need_more) throw boost::system::system_error(error);
  }
  ClientAnswer answer;
  answer.status = parser.get().result_int();
  const std::string wait(parser.get()[http::field::retry_after]);
  if (!wait.empty() && wait.size() < 4 && wait.find_first_not_of("0123456789") == std::string::npos)
    answer.retry_after = std::chrono::seconds{std::stoi(wait)};
  answer.body = std::move(parser.get().body());
  co_return answer;
}

asio::awaitable<ClientAnswer> talk(const ClientRequest& request, const Target& target) {
  const auto executor = co_await asio::this_coro::executor;
  const bool plain = target.url.scheme == ServiceUrl::Scheme::http;
  const std::unique_ptr<Stream> stream = plain ? plain_stream(executor) : tls_stream(executor);
  stream->allow(connect_time_max);
  const Route route{target.url.host, target.url.port, target.proxy};  // named: GCC bug 107288
  co_await stream->connect(route);
  co_await write(*stream, request, target);
  co_return co_await read(*stream);
}

/// A token or key with a line break in it would end the header and begin another.
bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

struct StatusRow {
  unsigned status;
  ErrorCode code;
};
/// For answers that are no problem+json of ours: those of a proxy on the way.
constexpr StatusRow statuses[] = {
    {401, ErrorCode::unauthorized},     {403, ErrorCode::forbidden},   {404, ErrorCode::not_found},
    {413, ErrorCode::upload_too_large}, {502, ErrorCode::unreachable}, {503, ErrorCode::unreachable},
    {504, ErrorCode::unreachable},
};

ErrorCode code_of(unsigned status) {
  for (const StatusRow& row : statuses)
    if (row.status == status) return row.code;
  return status >= 500 ? ErrorCode::unreachable : ErrorCode::bad_request;
}

}  // namespace

Result<ServiceUrl> service_url(std::string_view text) {
  constexpr std::string_view expected = "TRACEWEIR_URL (or --url): expected http://HOST[:PORT] or https://HOST[:PORT]";
  const auto parsed = boost::urls::parse_uri(boost::core::string_view(text.data(), text.size()));
  if (!parsed) return fail(ErrorCode::usage, std::string(expected));
  const bool https = parsed->scheme_id() == boost::urls::scheme::https;
  const bool known = https || parsed->scheme_id() == boost::urls::scheme::http;
  if (!known || parsed->encoded_host_address().empty() || parsed->has_userinfo() || parsed->has_query())
    return fail(ErrorCode::usage, std::string(expected));
  ServiceUrl url;
  url.scheme = https ? ServiceUrl::Scheme::https : ServiceUrl::Scheme::http;
  url.host = parsed->host_address();
  url.port = parsed->has_port() ? std::string(parsed->port()) : https ? "443" : "80";
  url.base = std::string(parsed->encoded_path());
  while (url.base.ends_with('/')) url.base.pop_back();
  return url;
}

Client::Client(ServiceUrl url, std::string token, std::optional<Proxy> proxy, std::chrono::seconds retry_time_max)
    : url_(std::move(url)), token_(std::move(token)), proxy_(std::move(proxy)), retry_time_max_(retry_time_max) {}

Client Client::with_token(std::string token) const { return {url_, std::move(token), proxy_, retry_time_max_}; }

Result<ClientAnswer> Client::send(const ClientRequest& request) const {
  if (!is_field_value(token_)) return fail(ErrorCode::usage, "TRACEWEIR_TOKEN: holds a character that no token has");
  for (const auto& [name, value] : request.headers)
    if (!is_field_value(value)) return fail(ErrorCode::usage, name + ": only printable ASCII is possible");
  asio::io_context io(1);
  std::optional<ClientAnswer> answer;
  std::exception_ptr failure;
  const auto done = [&](const std::exception_ptr& error, ClientAnswer result) {
    failure = error;
    answer = std::move(result);
  };
  const Target target{url_, token_, proxy_};  // named: the coroutine only refers to it
  asio::co_spawn(io, talk(request, target), done);
  io.run();
  if (!failure) return *std::move(answer);
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    const bool tls = error.code().category() == asio::error::get_ssl_category();
    return fail(ErrorCode::unreachable,
                fmt::format("{}:{}: {} ({})", url_.host, url_.port, clean_text(error.code().message()),
                            tls ? "is it https, and does this machine trust its certificate? SSL_CERT_FILE names "
                                  "authorities of one's own"
                                : "is the service running? TRACEWEIR_URL says where it is"));
  } catch (const std::exception& error) {
    return fail(ErrorCode::unreachable, fmt::format("{}:{}: {}", url_.host, url_.port, clean_text(error.what())));
  }
}

Result<std::string> Client::get(std::string path) const {
  ClientRequest request;
  request.path = std::move(path);
  TRACEWEIR_TRY(answer, send(request));
  if (answer.status < 200 || answer.status > 299) return tl::unexpected(error_of(answer));
  return std::move(answer.body);
}

std::string Client::address_of(std::string_view path) const {
  const bool https = url_.scheme == ServiceUrl::Scheme::https;
  const std::string_view usual = https ? "443" : "80";
  const std::string port = url_.port == usual ? "" : ":" + url_.port;
  const bool is_ipv6 = url_.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}{}", https ? "https" : "http", is_ipv6 ? "[" + url_.host + "]" : url_.host, port,
                     url_.base, path);
}

Error error_of(const ClientAnswer& answer) {
  Error error{code_of(answer.status), fmt::format("the service answered {}", answer.status)};
  const auto json = wire::parse_json(answer.body);
  if (!json || !json->is_object()) return error;
  wire::ObjectReader in(*json);
  const std::string type = in.maybe_text("type").value_or("");
  if (const auto code = error_code_of(type)) error.code = *code;
  if (error.code == ErrorCode::unauthorized) {
    error.message =
        "the service wants a valid token: set TRACEWEIR_TOKEN (traceweird token create --project P makes one)";
    return error;
  }
  if (const auto detail = in.maybe_text("detail")) error.message = clean_text(*detail, 2048);
  return error;
}

}  // namespace traceweir::cli
