#include "server/s3/readiness.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <thread>

using namespace traceweir;
using namespace traceweir::s3;
using namespace std::chrono_literals;

// Why: /readyz needs no token, and each question would be a connection to the store elsewhere.
TEST_CASE("readiness: a good answer is remembered, a bad one is asked for again") {
  int asked = 0;
  bool good = true;
  const auto ask = [&]() -> Result<void> {
    ++asked;
    if (!good) return fail(ErrorCode::store_unavailable, "away");
    return {};
  };
  Readiness readiness(ask, 1h);
  for (int i = 0; i < 100; ++i) CHECK(readiness.now());
  CHECK(asked == 1);

  Readiness forgetful(ask, 0ms);
  CHECK(forgetful.now());
  good = false;
  CHECK(forgetful.now().error().message == "away");
  CHECK(forgetful.now().error().message == "away");
  good = true;
  CHECK(forgetful.now());
  CHECK(asked == 5);
}

TEST_CASE("readiness: while one waits for the answer the others are told what was known") {
  std::promise<void> begun, go_on;
  int asked = 0;
  Readiness readiness(
      [&]() -> Result<void> {
        if (++asked == 1) return fail(ErrorCode::store_unavailable, "before");
        begun.set_value();
        go_on.get_future().wait();
        return {};
      },
      1h);
  CHECK_FALSE(readiness.now());
  std::thread one([&] { CHECK(readiness.now()); });
  begun.get_future().wait();
  for (int i = 0; i < 10; ++i) CHECK(readiness.now().error().message == "before");
  go_on.set_value();
  one.join();
  CHECK(readiness.now());
  CHECK(asked == 2);
}
