#include "cli/connection_stream.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <cstdlib>
#include <stdexcept>

#include "analyzer/core/text.hpp"

namespace traceweir::cli {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using Tcp = boost::beast::tcp_stream;

asio::awaitable<void> connect_tcp(Tcp& stream, const std::string& host, const std::string& port) {
  asio::ip::tcp::resolver resolver(stream.get_executor());
  const auto endpoints = co_await resolver.async_resolve(host, port, use_awaitable);
  co_await stream.async_connect(endpoints, use_awaitable);
}

/// Asks a proxy for a tunnel to the service. What it answers is read byte by byte: what follows is the service's.
asio::awaitable<void> open_tunnel(Tcp& stream, const Route& route) {
  constexpr std::size_t answer_bytes_max = 8192;
  const std::string host = route.host.find(':') == std::string::npos ? route.host : "[" + route.host + "]";
  const std::string credentials =
      route.proxy->credentials.empty() ? "" : fmt::format("Proxy-Authorization: {}\r\n", route.proxy->credentials);
  const std::string request =
      fmt::format("CONNECT {0}:{1} HTTP/1.1\r\nHost: {0}:{1}\r\n{2}\r\n", host, route.port, credentials);
  co_await asio::async_write(stream, asio::buffer(request), use_awaitable);
  std::string answer;
  while (!answer.ends_with("\r\n\r\n") && answer.size() < answer_bytes_max) {
    char byte = 0;
    co_await asio::async_read(stream, asio::buffer(&byte, 1), use_awaitable);
    answer += byte;
  }
  if (!answer.starts_with("HTTP/1.1 2") && !answer.starts_with("HTTP/1.0 2"))
    throw std::runtime_error(fmt::format("the proxy {}:{} (HTTPS_PROXY) answered '{}'", route.proxy->host,
                                         route.proxy->port, clean_text(answer.substr(0, answer.find('\r')), 200)));
}

/// OpenSSL looks where it was built to look. A client that was built elsewhere also knows where distributions keep
/// their authorities.
void add_authorities(asio::ssl::context& context) {
  constexpr const char* bundles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                     "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem",
                                     "/etc/ssl/cert.pem"};
  context.set_default_verify_paths();
  boost::system::error_code ignored;  // none of them is where SSL_CERT_FILE is set, or OpenSSL's own place is used
  if (std::getenv("SSL_CERT_FILE") != nullptr || std::getenv("SSL_CERT_DIR") != nullptr) return;
  for (const char* const bundle : bundles)
    if (::access(bundle, R_OK) == 0) {
      context.load_verify_file(bundle, ignored);
      return;
    }
}

/// Reads what there is; the end of the stream is no error here.
template <typename Layer>
asio::awaitable<std::size_t> read_from(Layer& layer, asio::mutable_buffer into) {
  boost::system::error_code error;
  const std::size_t count = co_await layer.async_read_some(into, asio::redirect_error(use_awaitable, error));
  const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  if (error && !ended) throw boost::system::system_error(error);
  co_return count;
}

class PlainStream final : public Stream {
 public:
  explicit PlainStream(const asio::any_io_executor& executor) : tcp_(executor) {}

  asio::awaitable<void> connect(const Route& route) override { co_await connect_tcp(tcp_, route.host, route.port); }
  void allow(std::chrono::seconds time) override { tcp_.expires_after(time); }
  asio::awaitable<void> write(asio::const_buffer bytes) override {
    co_await asio::async_write(tcp_, bytes, use_awaitable);
  }
  asio::awaitable<std::size_t> read(asio::mutable_buffer into) override { co_return co_await read_from(tcp_, into); }

 private:
  Tcp tcp_;
};

class TlsStream final : public Stream {
 public:
  explicit TlsStream(const asio::any_io_executor& executor)
      : context_(asio::ssl::context::tls_client), tls_(executor, context_) {
    add_authorities(context_);
    tls_.set_verify_mode(asio::ssl::verify_peer);
  }

  asio::awaitable<void> connect(const Route& route) override {
    std::string name = route.host;  // OpenSSL's macro for this holds an old-style cast
    SSL_ctrl(tls_.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
    tls_.set_verify_callback(asio::ssl::host_name_verification(route.host));
    co_await connect_tcp(tls_.next_layer(), route.proxy ? route.proxy->host : route.host,
                         route.proxy ? route.proxy->port : route.port);
    if (route.proxy) co_await open_tunnel(tls_.next_layer(), route);
    co_await tls_.async_handshake(asio::ssl::stream_base::client, use_awaitable);
  }
  void allow(std::chrono::seconds time) override { tls_.next_layer().expires_after(time); }
  asio::awaitable<void> write(asio::const_buffer bytes) override {
    co_await asio::async_write(tls_, bytes, use_awaitable);
  }
  asio::awaitable<std::size_t> read(asio::mutable_buffer into) override { co_return co_await read_from(tls_, into); }

 private:
  asio::ssl::context context_;
  asio::ssl::stream<Tcp> tls_;
};

}  // namespace

std::unique_ptr<Stream> plain_stream(const asio::any_io_executor& executor) {
  return std::make_unique<PlainStream>(executor);
}

std::unique_ptr<Stream> tls_stream(const asio::any_io_executor& executor) {
  return std::make_unique<TlsStream>(executor);
}

}  // namespace traceweir::cli
