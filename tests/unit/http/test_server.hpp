// For: a listener on a port of its own with a few toy routes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/http/listener.hpp"

/// GET  /hello           "hello"
/// GET  /things/{thing}  the thing
/// PUT  /count           streams the body, answers with its length and the sum of its bytes
/// POST /small           takes at most 16 bytes, answers with them
/// POST /refuse          401 without a look at the body
/// GET  /known           tells the session that the token is valid
/// GET  /throw           throws
/// GET  /broken          a header with a line break in it
/// GET  /file            a file of `file_bytes` bytes; GET /lost: one that is gone
/// GET  /wait            answers when released
class TestServer {
 public:
  static constexpr std::size_t file_bytes = 700'000;

  explicit TestServer(traceweir::http::HttpLimits limits = {});
  ~TestServer();

  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  [[nodiscard]] std::size_t connections() const { return listener_->connections(); }

  /// Waits until a request is in /wait.
  void await_waiting();
  /// Lets all requests in /wait go on.
  void release();
  /// Waits for the n-th record (from 1).
  traceweir::http::AccessRecord record(std::size_t n);

  void stop(std::chrono::milliseconds finish_time_max) { listener_->stop(finish_time_max); }
  /// Waits until run() has returned.
  void join();

 private:
  struct Waiters;

  std::filesystem::path file_;
  std::unique_ptr<Waiters> waiters_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<traceweir::http::AccessRecord> records_;
  std::atomic<int> ids_{0};
  traceweir::http::Router router_;
  std::optional<traceweir::http::Listener> listener_;
  std::thread thread_;
};

/// Whether the number of open connections comes down to `count` within a time that no machine needs.
bool falls_to(const TestServer& server, std::size_t count);

bool contains(std::string_view text, std::string_view part);
