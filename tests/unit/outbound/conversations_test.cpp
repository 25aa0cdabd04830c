#include "server/outbound/conversations.hpp"

#include <doctest/doctest.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "server/outbound/address.hpp"

using namespace traceweir;
using namespace traceweir::outbound;
using namespace std::chrono_literals;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<std::string> answered(std::string text) { co_return text; }
asio::awaitable<std::string> broken() {
  throw std::runtime_error("connection reset");
  co_return "";
}
asio::awaitable<std::string> silent(Conversations* cancelled_by = nullptr) {
  asio::steady_timer never(co_await asio::this_coro::executor, 1h);
  if (cancelled_by != nullptr) cancelled_by->cancel();
  co_await never.async_wait(asio::use_awaitable);
  co_return "late";
}

std::string said(const Result<std::string>& outcome) {
  if (outcome) return *outcome;
  CHECK(outcome.error().code == ErrorCode::unreachable);
  return outcome.error().message;
}

tcp::resolver::results_type found(std::initializer_list<const char*> addresses) {
  std::vector<tcp::endpoint> endpoints;
  for (const char* address : addresses) endpoints.emplace_back(asio::ip::make_address(address), 443);
  return tcp::resolver::results_type::create(endpoints.begin(), endpoints.end(), "bucket.example", "443");
}

}  // namespace

TEST_CASE("conversations: an answer, an error, and no answer in time") {
  Conversations conversations;
  CHECK(said(conversations.hold(answered("yes"), 1h)) == "yes");
  CHECK(said(conversations.hold(broken(), 1h)) == "connection reset");
  CHECK(said(conversations.hold(silent(), 2ms)) == "no answer within 2 ms");
}

TEST_CASE("conversations: all are broken off at once, and every later one") {
  Conversations conversations;
  std::string other;
  std::thread beside([&] { other = said(conversations.hold(silent(), 1h)); });
  CHECK(said(conversations.hold(silent(&conversations), 1h)) == "the service stops");
  beside.join();
  CHECK(other == "the service stops");
  CHECK(said(conversations.hold(answered("yes"), 1h)) == "the service stops");
}

TEST_CASE("address: one that may not be called refuses the name") {
  CHECK(callable(found({"192.0.2.1", "2001:db8::1"})).size() == 2);
  CHECK(callable(found({})).empty());
  CHECK_THROWS_WITH(
      callable(found({"192.0.2.1", "169.254.169.254"})),
      "the name stands for 169.254.169.254, an address that is not called (link-local, metadata or multicast)");
}
