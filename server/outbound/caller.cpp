#include "server/outbound/caller.hpp"

#include <openssl/ssl.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "analyzer/core/version.hpp"

namespace traceweir::outbound {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Request = http::request<http::string_body>;

constexpr std::uint32_t answer_head_bytes_max = 16 << 10;

/// What is sent where, for the coroutines; all of it outlives them.
struct Errand {
  const Address& address;
  const Request& request;
  std::size_t answer_bytes_max;
};

bool is_default_port(const Address& address) {
  return address.port == (address.scheme == Address::Scheme::https ? "443" : "80");
}

Request request_of(const Address& address, const Call& call) {
  Request request{call.verb == Call::Verb::post ? http::verb::post : http::verb::get, address.target, 11};
  const std::string host = address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  request.set(http::field::host, is_default_port(address) ? host : host + ":" + address.port);
  request.set(http::field::user_agent, std::string("traceweir/") + version);
  request.set(http::field::connection, "close");
  if (call.verb == Call::Verb::post) request.set(http::field::content_type, "application/json");
  for (const auto& [name, value] : call.headers) request.set(name, value);
  request.body() = call.body;
  request.prepare_payload();
  return request;
}

template <typename Stream>
asio::awaitable<CallAnswer> ask(Stream& stream, const Errand& errand) {
  co_await http::async_write(stream, errand.request, asio::use_awaitable);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.header_limit(answer_head_bytes_max);
  parser.body_limit(errand.answer_bytes_max);
  if (errand.answer_bytes_max == 0)
    co_await http::async_read_header(stream, buffer, parser, asio::use_awaitable);
  else
    co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
  co_return CallAnswer{parser.get().result_int(), std::move(parser.get().body())};
}

asio::awaitable<CallAnswer> ask_encrypted(beast::tcp_stream plain, const Errand& errand) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_default_verify_paths();
  context.set_verify_mode(asio::ssl::verify_peer);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  beast::ssl_stream<beast::tcp_stream> stream(std::move(plain), context);
  stream.set_verify_callback(asio::ssl::host_name_verification(errand.address.host));
  std::string name = errand.address.host;
  SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
  co_return co_await ask(stream, errand);
}

asio::awaitable<CallAnswer> talk_to(const Errand& errand) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto found = co_await resolver.async_resolve(errand.address.host, errand.address.port, asio::use_awaitable);
  const std::vector<asio::ip::tcp::endpoint> endpoints = callable(found);
  beast::tcp_stream stream(executor);
  co_await stream.async_connect(endpoints, asio::use_awaitable);
  if (errand.address.scheme == Address::Scheme::http) co_return co_await ask(stream, errand);
  co_return co_await ask_encrypted(std::move(stream), errand);
}

}  // namespace

Result<CallAnswer> Caller::send(const Call& call, std::chrono::milliseconds limit) {
  const Request request = request_of(address_, call);
  const Errand errand{address_, request, call.answer_bytes_max};
  return conversations_.hold(talk_to(errand), limit);
}

}  // namespace traceweir::outbound
