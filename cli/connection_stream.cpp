#include "cli/connection_stream.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>

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

  asio::awaitable<void> connect(const std::string& host, const std::string& port) override {
    co_await connect_tcp(tcp_, host, port);
  }
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
    context_.set_default_verify_paths();
    tls_.set_verify_mode(asio::ssl::verify_peer);
  }

  asio::awaitable<void> connect(const std::string& host, const std::string& port) override {
    std::string name = host;  // OpenSSL's macro for this holds an old-style cast
    SSL_ctrl(tls_.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
    tls_.set_verify_callback(asio::ssl::host_name_verification(host));
    co_await connect_tcp(tls_.next_layer(), host, port);
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
