#include "server/s3/exchange.hpp"

#include <openssl/ssl.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "analyzer/core/ascii.hpp"
#include "server/outbound/address.hpp"

namespace traceweir::s3 {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Request = http::request<http::span_body<const char>>;

constexpr std::uint32_t answer_head_bytes_max = 64 << 10;
constexpr std::chrono::seconds connect_time_max{5};

Request request_of(const Outgoing& outgoing) {
  Request request{http::string_to_verb(outgoing.method), outgoing.target, 11};
  for (const auto& [name, value] : outgoing.headers) request.set(name, value);
  request.set(http::field::connection, "close");
  request.body() = beast::span<const char>(outgoing.body.data(), outgoing.body.size());
  request.content_length(outgoing.body.size());
  return request;
}

Answer answer_of(http::response<http::string_body> response) {
  Answer answer{response.result_int(), {}, {}};
  for (const auto& field : response) answer.headers[lower_case(field.name_string())] = std::string(field.value());
  answer.body = std::move(response.body());
  return answer;
}

/// A host that does not want the body says so and closes; its answer is worth more than our broken pipe.
template <typename Stream>
asio::awaitable<Answer> ask(Stream& stream, const Outgoing& outgoing, std::size_t bytes_max) {
  const Request request = request_of(outgoing);
  boost::system::error_code written;
  co_await http::async_write(stream, request, asio::redirect_error(asio::use_awaitable, written));
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.header_limit(answer_head_bytes_max);
  parser.body_limit(bytes_max);
  parser.skip(outgoing.method == "HEAD");
  co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
  if (written && parser.get().result_int() < 300) throw boost::system::system_error(written);
  co_return answer_of(parser.release());
}

asio::awaitable<Answer> talk(const Endpoint& endpoint, asio::ssl::context& tls, const Outgoing& outgoing,
                             std::size_t bytes_max) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto found = co_await resolver.async_resolve(endpoint.host, endpoint.port, asio::use_awaitable);
  const auto addresses = outbound::callable(found);
  beast::tcp_stream plain(executor);
  plain.expires_after(connect_time_max);
  co_await plain.async_connect(addresses, asio::use_awaitable);
  plain.expires_never();
  if (endpoint.scheme == Endpoint::Scheme::http) co_return co_await ask(plain, outgoing, bytes_max);
  beast::ssl_stream<beast::tcp_stream> stream(std::move(plain), tls);
  stream.set_verify_callback(asio::ssl::host_name_verification(endpoint.host));
  std::string name = endpoint.host;
  SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
  co_return co_await ask(stream, outgoing, bytes_max);
}

}  // namespace

Exchange::Exchange(Endpoint endpoint) : endpoint_(std::move(endpoint)), tls_(asio::ssl::context::tls_client) {
  tls_.set_default_verify_paths();
  tls_.set_verify_mode(asio::ssl::verify_peer);
  SSL_CTX_set_min_proto_version(tls_.native_handle(), TLS1_2_VERSION);
}

Result<Answer> Exchange::send(const Outgoing& request, ExchangeLimits limits) {
  return conversations_.hold(talk(endpoint_, tls_, request, limits.answer_bytes_max), limits.time_max);
}

}  // namespace traceweir::s3
