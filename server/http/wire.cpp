#include "server/http/wire.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <utility>

namespace traceweir::http {

namespace asio = boost::asio;
using boost::system::error_code;

struct Wire::State {
  State(asio::ip::tcp::socket from, const Tls* by)
      : socket(std::move(from)), tls(by == nullptr ? nullptr : by->stream_over(socket)), timer(socket.get_executor()) {}

  /// From here on the operation that waits is cancelled at `until`. Each operation arms anew before it starts and is a
  /// single one of the socket's, so that a cancel never falls between two halves of one.
  static void arm(const std::shared_ptr<State>& state, Clock::time_point until) {
    state->expired = false;
    state->timer.expires_at(until);
    state->timer.async_wait([state](error_code error) {
      // A callback that was already on its way when the timer was armed anew belongs to an operation that has ended.
      if (error || state->timer.expiry() > Clock::now()) return;
      state->expired = true;
      error_code ignored;
      state->socket.cancel(ignored);
    });
  }

  /// The operation has ended.
  Result<std::size_t> outcome(error_code error, std::size_t count) {
    timer.cancel();
    if (!error) return count;
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) return std::size_t{0};
    if (expired) return fail(ErrorCode::request_timeout, "the client was slower than the limits allow");
    return fail(ErrorCode::bad_request, "the connection ended early: " + error.message());
  }

  asio::ip::tcp::socket socket;
  std::unique_ptr<TlsStream> tls;  ///< null: plain, or no longer encrypted
  asio::steady_timer timer;
  bool expired = false;
  std::string ahead;
  std::size_t ahead_used = 0;
};

Wire::Wire(asio::ip::tcp::socket socket, const Tls* tls) : state_(std::make_shared<State>(std::move(socket), tls)) {}

Wire::~Wire() { close(); }

bool Wire::is_encrypted() const { return state_->tls != nullptr; }

asio::awaitable<Result<void>> Wire::handshake(Clock::time_point until) {
  const std::shared_ptr<State> state = state_;
  if (!state->tls) co_return Result<void>();
  State::arm(state, until);
  error_code error;
  co_await state->tls->async_handshake(asio::ssl::stream_base::server,
                                       asio::redirect_error(asio::use_awaitable, error));
  const Result<std::size_t> done = state->outcome(error, 0);
  if (!done || error) co_return fail(ErrorCode::bad_request, "no TLS handshake");
  co_return Result<void>();
}

asio::awaitable<Result<std::size_t>> Wire::read_some(std::span<std::byte> into, Clock::time_point until) {
  const std::shared_ptr<State> state = state_;
  if (const std::string_view here = ahead(); !here.empty()) {
    const std::size_t count = std::min(here.size(), into.size());
    std::memcpy(into.data(), here.data(), count);
    use(count);
    co_return count;
  }
  State::arm(state, until);
  error_code error;
  std::size_t count = 0;
  const asio::mutable_buffer free(into.data(), into.size());
  if (state->tls)
    count = co_await state->tls->async_read_some(free, asio::redirect_error(asio::use_awaitable, error));
  else
    count = co_await state->socket.async_read_some(free, asio::redirect_error(asio::use_awaitable, error));
  co_return state->outcome(error, count);
}

asio::awaitable<Result<std::size_t>> Wire::read_ahead(std::size_t bytes_max, Clock::time_point until) {
  const std::shared_ptr<State> state = state_;
  state->ahead.erase(0, std::exchange(state->ahead_used, 0));
  const std::size_t before = state->ahead.size();
  state->ahead.resize(before + bytes_max);
  State::arm(state, until);
  error_code error;
  std::size_t count = 0;
  const asio::mutable_buffer free(state->ahead.data() + before, bytes_max);
  if (state->tls)
    count = co_await state->tls->async_read_some(free, asio::redirect_error(asio::use_awaitable, error));
  else
    count = co_await state->socket.async_read_some(free, asio::redirect_error(asio::use_awaitable, error));
  state->ahead.resize(before + count);
  co_return state->outcome(error, count);
}

asio::awaitable<Result<std::size_t>> Wire::write_some(std::string_view bytes, Clock::time_point until) {
  const std::shared_ptr<State> state = state_;
  State::arm(state, until);
  error_code error;
  std::size_t count = 0;
  const asio::const_buffer ready(bytes.data(), bytes.size());
  if (state->tls)
    count = co_await state->tls->async_write_some(ready, asio::redirect_error(asio::use_awaitable, error));
  else
    count = co_await state->socket.async_write_some(ready, asio::redirect_error(asio::use_awaitable, error));
  co_return state->outcome(error, count);
}

std::string_view Wire::ahead() const { return std::string_view(state_->ahead).substr(state_->ahead_used); }

void Wire::use(std::size_t count) { state_->ahead_used += count; }

void Wire::interrupt() {
  error_code ignored;
  state_->socket.cancel(ignored);
}

asio::awaitable<void> Wire::end_writing(Clock::time_point until) {
  const std::shared_ptr<State> state = state_;
  error_code ignored;
  if (state->tls) {
    State::arm(state, until);
    co_await state->tls->async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    static_cast<void>(state->outcome(ignored, 0));
    state->tls.reset();
  }
  state->socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void Wire::close() {
  error_code ignored;
  state_->timer.cancel();
  state_->socket.close(ignored);
}

}  // namespace traceweir::http
