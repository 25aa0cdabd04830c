#include "tests/unit/http/test_server.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "server/http/admission.hpp"
#include "server/http/problem.hpp"

using namespace traceweir;
using namespace traceweir::http;
using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Requests that wait, each for a timer that is only ever cancelled.
struct TestServer::Waiters {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<asio::steady_timer>> timers;
};

namespace {

asio::awaitable<Response> hello(Request&) { co_return respond(Status::ok, "text/plain", "hello"); }

asio::awaitable<Response> thing(Request& request) {
  co_return respond(Status::ok, "text/plain", request.param("thing"));
}

asio::awaitable<Response> count(Request& request) {
  std::vector<std::byte> buffer(body_buffer_bytes);
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
  for (;;) {
    const Result<std::size_t> got = co_await request.body->read(buffer);
    if (!got) co_return problem(got.error());
    if (*got == 0) break;
    bytes += *got;
    for (std::size_t i = 0; i < *got; ++i) sum += std::to_integer<unsigned>(buffer[i]);
  }
  co_return respond(Status::ok, "text/plain", std::to_string(bytes) + " " + std::to_string(sum));
}

asio::awaitable<Response> small(Request& request) {
  Result<std::string> text = co_await read_small(*request.body, 16);
  if (!text) co_return problem(text.error());
  co_return respond(Status::created, "text/plain", *std::move(text));
}

asio::awaitable<Response> refuse(Request&) { co_return problem({ErrorCode::unauthorized, "no token"}); }

asio::awaitable<Response> known(Request& request) {
  if (!request.admission->found_valid()) co_return problem({ErrorCode::unauthorized, "not heard"});
  co_return respond(Status::ok, "text/plain", "known");
}

asio::awaitable<Response> throwing(Request&) {
  throw std::runtime_error("secret details\n");
  co_return Response{};
}

asio::awaitable<Response> broken(Request&) {
  co_return respond(Status::ok, "text/plain", "x").set("X-Evil", "a\r\nSet-Cookie: b");
}

}  // namespace

TestServer::TestServer(HttpLimits limits) : waiters_(std::make_unique<Waiters>()) {
  std::string name = (std::filesystem::temp_directory_path() / "traceweir_http_XXXXXX").string();
  const int descriptor = ::mkstemp(name.data());
  REQUIRE(descriptor >= 0);
  ::close(descriptor);
  file_ = name;
  std::ofstream(file_) << std::string(file_bytes, 'f');

  const auto send_file = [this](Request&) -> asio::awaitable<Response> {
    co_return download(file_, "application/octet-stream", "trace.json");
  };
  const auto send_lost = [](Request&) -> asio::awaitable<Response> {
    co_return download("/nonexistent/file", "application/octet-stream", "x");
  };
  const auto wait = [this](Request&) -> asio::awaitable<Response> {
    const auto timer = std::make_shared<asio::steady_timer>(co_await asio::this_coro::executor);
    timer->expires_after(60s);
    {
      const std::lock_guard lock(waiters_->mutex);
      waiters_->timers.push_back(timer);
    }
    waiters_->changed.notify_all();
    boost::system::error_code ignored;
    co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    co_return respond(Status::ok, "text/plain", "waited");
  };
  router_.add(Verb::get, "/hello", hello);
  router_.add(Verb::get, "/things/{thing}", thing);
  router_.add(Verb::del, "/things/{thing}", thing);
  router_.add(Verb::put, "/count", count);
  router_.add(Verb::post, "/small", small);
  router_.add(Verb::post, "/refuse", refuse);
  router_.add(Verb::get, "/known", known);
  router_.add(Verb::get, "/throw", throwing);
  router_.add(Verb::get, "/broken", broken);
  router_.add(Verb::get, "/file", send_file);
  router_.add(Verb::get, "/lost", send_lost);
  router_.add(Verb::get, "/wait", wait);

  ListenerOptions options;
  options.port = 0;
  options.limits = limits;
  options.handler = std::cref(router_);
  options.new_request_id = [this] { return "id-" + std::to_string(++ids_); };
  options.access_log = [this](const AccessRecord& record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(record);
    changed_.notify_all();
  };
  auto opened = Listener::open(std::move(options));
  REQUIRE(opened);
  listener_ = *std::move(opened);
  thread_ = std::thread([this] { listener_->run(2); });
}

TestServer::~TestServer() {
  release();
  stop(0ms);
  join();
  std::filesystem::remove(file_);
}

void TestServer::join() {
  if (thread_.joinable()) thread_.join();
}

void TestServer::await_waiting() {
  std::unique_lock lock(waiters_->mutex);
  REQUIRE(waiters_->changed.wait_for(lock, 20s, [&] { return !waiters_->timers.empty(); }));
}

void TestServer::release() {
  const std::lock_guard lock(waiters_->mutex);
  for (const auto& timer : waiters_->timers) asio::post(timer->get_executor(), [timer] { timer->cancel(); });
  waiters_->timers.clear();
}

AccessRecord TestServer::record(std::size_t n) {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, 20s, [&] { return records_.size() >= n; }));
  return records_[n - 1];
}

bool falls_to(const TestServer& server, std::size_t count) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (server.connections() > count && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  return server.connections() == count;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
