#include "server/notify/poster.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <optional>

#include "analyzer/core/version.hpp"

namespace traceweir::notify {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Request = http::request<http::string_body>;

/// Of an answer only the head is read.
constexpr std::uint32_t answer_head_bytes_max = 16 << 10;

std::string port_of(const boost::urls::url_view& url, Address::Scheme scheme) {
  if (url.has_port() && !url.port().empty()) return std::string(url.port());
  return scheme == Address::Scheme::https ? "443" : "80";
}

bool is_default_port(const Address& address) {
  return address.port == (address.scheme == Address::Scheme::https ? "443" : "80");
}

Request request_of(const Address& address, const Post& post) {
  Request request{http::verb::post, address.target, 11};
  const std::string host = address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  request.set(http::field::host, is_default_port(address) ? host : host + ":" + address.port);
  request.set(http::field::user_agent, std::string("traceweir/") + version);
  request.set(http::field::content_type, "application/json");
  request.set(http::field::connection, "close");
  for (const auto& [name, value] : post.headers) request.set(name, value);
  request.body() = post.body;
  request.prepare_payload();
  return request;
}

template <typename Stream>
asio::awaitable<unsigned> ask(Stream& stream, const Request& request) {
  co_await http::async_write(stream, request, asio::use_awaitable);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.header_limit(answer_head_bytes_max);
  co_await http::async_read_header(stream, buffer, parser, asio::use_awaitable);
  co_return parser.get().result_int();
}

asio::awaitable<unsigned> ask_encrypted(beast::tcp_stream plain, const Address& address, const Request& request) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_default_verify_paths();
  context.set_verify_mode(asio::ssl::verify_peer);
  beast::ssl_stream<beast::tcp_stream> stream(std::move(plain), context);
  stream.set_verify_callback(asio::ssl::host_name_verification(address.host));
  std::string name = address.host;
  SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
  co_return co_await ask(stream, request);
}

asio::awaitable<unsigned> talk_to(const Address& address, const Request& request) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto found = co_await resolver.async_resolve(address.host, address.port, asio::use_awaitable);
  beast::tcp_stream stream(executor);
  co_await stream.async_connect(found, asio::use_awaitable);
  if (address.scheme == Address::Scheme::http) co_return co_await ask(stream, request);
  co_return co_await ask_encrypted(std::move(stream), address, request);
}

tl::unexpected<Error> expected_url() {
  return fail(ErrorCode::bad_config, "http://HOST/PATH or https://HOST/PATH was expected, without user and password");
}

}  // namespace

std::string Address::shown() const {
  const std::string_view name = scheme == Scheme::https ? "https" : "http";
  return fmt::format("{}://{}{}/***", name, host, is_default_port(*this) ? "" : ":" + port);
}

Result<Address> address_of(std::string_view text) {
  const auto url = boost::urls::parse_uri(text);
  if (!url) return expected_url();
  Address address;
  if (url->scheme_id() == boost::urls::scheme::https)
    address.scheme = Address::Scheme::https;
  else if (url->scheme_id() != boost::urls::scheme::http)
    return expected_url();
  address.host = url->host_address();
  if (address.host.empty() || url->has_userinfo() || url->has_fragment()) return expected_url();
  address.port = port_of(*url, address.scheme);
  address.target = std::string(url->encoded_target());
  if (address.target.empty() || address.target.front() != '/') address.target.insert(0, "/");
  return address;
}

Result<unsigned> Poster::send(const Post& post, std::chrono::milliseconds limit) {
  const Request request = request_of(address_, post);
  std::optional<Result<unsigned>> outcome;
  const auto finish = [&outcome](const std::exception_ptr& error, unsigned status) {
    try {
      if (error) std::rethrow_exception(error);
      outcome = status;
    } catch (const std::exception& failure) {
      outcome = fail(ErrorCode::unreachable, failure.what());
    }
  };
  // What still waits when the time is up goes with the context.
  asio::io_context io(1);
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return fail(ErrorCode::unreachable, "the service stops");
    running_ = &io;
  }
  asio::co_spawn(io, talk_to(address_, request), finish);
  io.run_for(limit);
  const std::lock_guard lock(mutex_);
  running_ = nullptr;
  if (outcome) return *std::move(outcome);
  if (cancelled_) return fail(ErrorCode::unreachable, "the service stops");
  return fail(ErrorCode::unreachable, fmt::format("no answer within {} ms", limit.count()));
}

void Poster::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (running_ != nullptr) running_->stop();
}

}  // namespace traceweir::notify
