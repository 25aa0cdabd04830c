#include "server/http/listener.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "server/http/problem.hpp"
#include "server/http/reply.hpp"
#include "server/http/session.hpp"

namespace traceweir::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds accept_retry_time{50};

/// Whether accepting fails for want of descriptors or memory, so that trying again at once would only burn time.
bool is_shortage(const error_code& error) {
  return error == boost::system::errc::too_many_files_open ||
         error == boost::system::errc::too_many_files_open_in_system ||
         error == boost::system::errc::not_enough_memory || error == boost::system::errc::no_buffer_space;
}

/// Says why, as far as the socket takes it at once, and closes. A client that wants TLS would not understand.
void turn_away(tcp::socket socket, const ListenerOptions& options, std::string_view limit) {
  if (options.tls != nullptr) return;
  const std::string request_id = options.new_request_id();
  const Reply reply = make_reply(problem({ErrorCode::queue_full, std::string(limit) + " is reached"}), {request_id});
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(reply.text), ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace

struct Listener::Impl {
  explicit Impl(ListenerOptions from)
      : options(std::move(from)),
        strand(asio::make_strand(io)),
        acceptor(strand),
        timer(strand),
        work(io.get_executor()) {
    sessions.on_empty = [this] {
      asio::post(strand, [this] {
        if (!acceptor.is_open()) timer.cancel();
      });
    };
  }
  ~Impl() { sessions.on_empty = nullptr; }

  error_code bind(const asio::ip::address& address);
  std::optional<Visit> visit_of(const tcp::socket& socket);
  asio::awaitable<void> accept_all();
  void begin(tcp::socket socket);
  void begin_stop(std::chrono::milliseconds finish_time_max);

  // Destroyed from the bottom: coroutines that are left die with `io` and still see what is above it.
  ListenerOptions options;
  std::uint16_t port = 0;
  SessionSet sessions;
  Visitors visitors{options.limits};
  asio::io_context io;
  asio::any_io_executor strand;
  tcp::acceptor acceptor;
  asio::steady_timer timer;  ///< a pause of accept_all, later the end of the time to finish in
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
};

error_code Listener::Impl::bind(const asio::ip::address& address) {
  error_code error;
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) port = acceptor.local_endpoint(error).port();
  return error;
}

asio::awaitable<void> Listener::Impl::accept_all() {
  while (acceptor.is_open()) {
    error_code error;
    const asio::any_io_executor session_strand = asio::make_strand(io);
    tcp::socket socket =
        co_await acceptor.async_accept(session_strand, asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      try {
        begin(std::move(socket));
      } catch (const std::exception&) {
        // No memory for this one: it is closed, and the next may find some.
      }
    } else if (is_shortage(error) && acceptor.is_open()) {
      timer.expires_after(accept_retry_time);
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
  }
}

/// Nothing: this address has as many connections as it may. Behind a proxy there are many clients.
std::optional<Visit> Listener::Impl::visit_of(const tcp::socket& socket) {
  const asio::ip::address peer = peer_of(socket);
  if (options.trusted_proxies.contain(peer)) return Visit();
  return visitors.enter(client_key(peer));
}

void Listener::Impl::begin(tcp::socket socket) {
  if (sessions.size() >= options.limits.connections_max)
    return turn_away(std::move(socket), options, "connections_max");
  std::optional<Visit> visit = visit_of(socket);
  if (!visit) return turn_away(std::move(socket), options, "connections_per_address_max");
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const asio::any_io_executor executor = socket.get_executor();
  const SessionHost host{options, sessions, visitors};
  const auto session = std::make_shared<Session>(std::move(socket), host, *std::move(visit));
  asio::co_spawn(executor, session->run(), asio::detached);
}

void Listener::Impl::begin_stop(std::chrono::milliseconds finish_time_max) {
  error_code ignored;
  acceptor.close(ignored);
  work.reset();
  sessions.begin_stop();
  const auto left = sessions.all();
  for (const auto& session : left) session->begin_stop();
  if (left.empty()) return;
  timer.expires_after(finish_time_max);
  timer.async_wait([this](error_code error) {
    if (error) return;
    for (const auto& session : sessions.all()) session->close();
  });
}

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&&) noexcept = default;
Listener::~Listener() = default;

Result<Listener> Listener::open(ListenerOptions options) {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  auto impl = std::make_unique<Impl>(std::move(options));
  if (!error) error = impl->bind(address);
  if (error)
    return fail(ErrorCode::bad_config,
                impl->options.address + ", port " + std::to_string(impl->options.port) + ": " + error.message());
  asio::co_spawn(impl->strand, impl->accept_all(), asio::detached);
  return Listener(std::move(impl));
}

std::uint16_t Listener::port() const { return impl_->port; }

std::size_t Listener::connections() const { return impl_->sessions.size(); }

asio::any_io_executor Listener::executor() const { return impl_->io.get_executor(); }

void Listener::run(unsigned thread_count) {
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < thread_count; ++i) others.emplace_back([this] { impl_->io.run(); });
  impl_->io.run();
}

void Listener::stop(std::chrono::milliseconds finish_time_max) {
  asio::post(impl_->strand, [impl = impl_.get(), finish_time_max] { impl->begin_stop(finish_time_max); });
}

}  // namespace traceweir::http
