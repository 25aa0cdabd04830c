// For: one connection: request after request, each with its timers, until either side wants no more.
// Not for: accepting (listener.hpp), routes.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/access.hpp"
#include "server/http/head.hpp"
#include "server/http/listener.hpp"
#include "server/http/reply.hpp"
#include "server/http/socket_body.hpp"
#include "server/http/visitors.hpp"
#include "server/http/wire.hpp"

namespace traceweir::http {

class Session;

/// The sessions that are alive, for counting and stopping them.
/// Thread: any.
class SessionSet {
 public:
  void add(Session& session);
  void remove(Session& session);
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<std::shared_ptr<Session>> all() const;

  /// From here on no session takes a further request; those that are idle must be told by begin_stop. Set before any is
  /// told, so that an answer written after the first of them has ended says that its connection ends, too.
  void begin_stop() { stopping_ = true; }
  [[nodiscard]] bool stopping() const { return stopping_; }

  /// Called with the removal of the last one, from the thread that removes it. Set it before there are any.
  std::function<void()> on_empty;

 private:
  mutable std::mutex mutex_;
  std::set<Session*> sessions_;
  std::atomic<bool> stopping_ = false;
};

/// What a session belongs to; all of it outlives every session.
struct SessionHost {
  const ListenerOptions& options;
  SessionSet& set;
  Visitors& visitors;
};

/// The address of the other end; the unspecified one where it is gone already.
boost::asio::ip::address peer_of(const boost::asio::ip::tcp::socket& socket);

/// Shared by its coroutine and by calls from other threads that are on their way to its strand.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, const SessionHost& host, Visit visit);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The whole life of the connection. Spawn it on the socket's strand.
  boost::asio::awaitable<void> run();

  /// Lets the request in flight end and takes no further one. Thread: any.
  void begin_stop();
  /// Ends at once what waits for the client. Thread: any.
  void close();

 private:
  enum class Next { request, close };
  using HeadOrRefusal = tl::expected<Head, Refusal>;

  // Arguments are references to what the caller's frame holds: g++ 12 may destroy a temporary twice where it is
  // awaited.
  boost::asio::awaitable<Next> begin();
  boost::asio::awaitable<Next> serve_one();
  boost::asio::awaitable<std::optional<HeadOrRefusal>> read_head();
  boost::asio::awaitable<Next> refuse(const Refusal& refusal);
  boost::asio::awaitable<Next> serve(Head& head);
  boost::asio::awaitable<Response> let_in(Request& request, const std::string& client);
  boost::asio::awaitable<Response> answer(Request& request);
  boost::asio::awaitable<bool> write(Reply& reply);
  boost::asio::awaitable<bool> write_piece(std::string_view piece, Patience& patience);
  boost::asio::awaitable<void> linger();
  boost::asio::awaitable<void> say_goodbye();

  [[nodiscard]] Request request_of(Head& head);
  [[nodiscard]] Transport transport() const;
  [[nodiscard]] HeadOrRefusal take_head(std::size_t head_bytes);
  [[nodiscard]] HeadOrRefusal refused(std::string_view bytes, Error error);
  void note_request_line(std::string_view bytes);
  void begin_record();
  void end_record();

  const ListenerOptions& options_;
  SessionSet& set_;
  Visitors& visitors_;
  Visit visit_;
  boost::asio::any_io_executor strand_;
  boost::asio::executor_work_guard<boost::asio::any_io_executor> work_;  ///< Listener::run waits for this session
  boost::asio::ip::address peer_;
  Wire wire_;
  bool idle_ = false;    ///< waits for the first byte of a request
  AccessRecord record_;  ///< of the request in flight
  Wire::Clock::time_point begun_{};
};

}  // namespace traceweir::http
