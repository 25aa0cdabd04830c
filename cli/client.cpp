#include "cli/client.hpp"

#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/url/parse.hpp>
#include <exception>

#include "analyzer/core/text.hpp"
#include "analyzer/core/version.hpp"
#include "server/wire/json.hpp"

namespace traceweir::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;

constexpr std::chrono::seconds connect_time_max{10};
constexpr std::chrono::seconds send_time_max{60};     // without any progress
constexpr std::chrono::seconds answer_time_max{700};  // a verdict may be waited for (wait=600)
constexpr std::uint64_t answer_bytes_max = std::uint64_t{64} << 20;

struct Target {
  const ServiceUrl& url;
  const std::string& token;
};

/// Sends the request piece by piece, so that progress can be shown. The service may answer early and close (a refused
/// upload): then writing fails and the answer is still read.
template <typename Stream, typename Body>
asio::awaitable<void> write(Stream& stream, http::request<Body>& message, const ClientRequest& request) {
  http::request_serializer<Body> serializer(message);
  serializer.split(true);
  const std::uint64_t total = message.payload_size().value_or(0);
  std::uint64_t sent = 0;
  bool in_body = false;
  while (!serializer.is_done()) {
    beast::get_lowest_layer(stream).expires_after(send_time_max);
    boost::system::error_code error;
    const std::size_t count =
        co_await http::async_write_some(stream, serializer, asio::redirect_error(use_awaitable, error));
    if (error) co_return;
    if (in_body) sent += count;
    in_body = serializer.is_header_done();
    if (request.progress && in_body) request.progress(std::min(sent, total), total);
  }
}

template <typename Stream>
asio::awaitable<ClientAnswer> read(Stream& stream) {
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(answer_bytes_max);
  beast::get_lowest_layer(stream).expires_after(answer_time_max);
  co_await http::async_read(stream, buffer, parser, use_awaitable);
  ClientAnswer answer;
  answer.status = parser.get().result_int();
  answer.body = std::move(parser.get().body());
  co_return answer;
}

template <typename Message>
void set_head(Message& message, const ClientRequest& request, const Target& target) {
  message.version(11);
  message.method_string(request.method);
  message.target(target.url.base + request.path);
  const bool is_ipv6 = target.url.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + target.url.host + "]" : target.url.host;
  message.set(http::field::host, host + ":" + target.url.port);
  message.set(http::field::user_agent, std::string("traceweir/") + version);
  message.set(http::field::connection, "close");
  if (!target.token.empty()) message.set(http::field::authorization, "Bearer " + target.token);
  for (const auto& [name, value] : request.headers) message.set(name, value);
}

template <typename Stream>
asio::awaitable<ClientAnswer> exchange(Stream& stream, const ClientRequest& request, const Target& target) {
  if (request.file.empty()) {
    http::request<http::empty_body> message;
    set_head(message, request, target);
    if (request.method != "GET") message.set(http::field::content_length, "0");
    co_await write(stream, message, request);
  } else {
    http::request<http::file_body> message;
    set_head(message, request, target);
    beast::error_code error;
    message.body().open(request.file.c_str(), beast::file_mode::scan, error);
    if (error) throw boost::system::system_error(error, "opening the file");
    message.prepare_payload();
    co_await write(stream, message, request);
  }
  co_return co_await read(stream);
}

asio::awaitable<ClientAnswer> talk(const ClientRequest& request, const Target& target) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto endpoints = co_await resolver.async_resolve(target.url.host, target.url.port, use_awaitable);
  if (target.url.scheme == ServiceUrl::Scheme::http) {
    beast::tcp_stream stream(executor);
    stream.expires_after(connect_time_max);
    co_await stream.async_connect(endpoints, use_awaitable);
    co_return co_await exchange(stream, request, target);
  }
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_default_verify_paths();
  context.set_verify_mode(asio::ssl::verify_peer);
  beast::ssl_stream<beast::tcp_stream> stream(executor, context);
  stream.set_verify_callback(asio::ssl::host_name_verification(target.url.host));
  std::string host = target.url.host;  // OpenSSL's macro for this holds an old-style cast
  SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
  beast::get_lowest_layer(stream).expires_after(connect_time_max);
  co_await beast::get_lowest_layer(stream).async_connect(endpoints, use_awaitable);
  co_await stream.async_handshake(asio::ssl::stream_base::client, use_awaitable);
  co_return co_await exchange(stream, request, target);
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

Client::Client(ServiceUrl url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}

Result<ClientAnswer> Client::send(const ClientRequest& request) const {
  asio::io_context io(1);
  std::optional<ClientAnswer> answer;
  std::exception_ptr failure;
  const auto done = [&](const std::exception_ptr& error, ClientAnswer result) {
    failure = error;
    answer = std::move(result);
  };
  asio::co_spawn(io, talk(request, Target{url_, token_}), done);
  io.run();
  if (!failure) return *std::move(answer);
  try {
    std::rethrow_exception(failure);
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
  if (const auto detail = in.maybe_text("detail")) error.message = clean_text(*detail, 2048);
  return error;
}

}  // namespace traceweir::cli
