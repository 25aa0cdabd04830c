#include "server/analysis/feed.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <span>
#include <string>

#include "server/analysis/child.hpp"

using namespace traceweir;
using namespace traceweir::analysis;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using How = ChildEnd::How;

namespace {

/// A file that grows, and a child of a shell script that is fed from it.
class Arriving {
 public:
  explicit Arriving(const std::string& script, std::chrono::milliseconds time_max = 20s) {
    std::string name = (fs::temp_directory_path() / "traceweir_feed_XXXXXX").string();
    const int made = ::mkstemp(name.data());
    REQUIRE(made >= 0);
    ::close(made);
    file_ = name;
    feed_ = Feed::open(file_).value();
    end_ = std::async(std::launch::async, [this, script, time_max] {
      const ChildLimits limits{time_max, 0, 64, 1 << 22, 1 << 10, 0, {}};
      const ChildFiles input{-1, -1, feed_.get()};
      return children_.run({"/bin/sh", "-c", script}, limits, std::span(&input, 1));
    });
  }
  Arriving(const Arriving&) = delete;
  Arriving& operator=(const Arriving&) = delete;
  ~Arriving() { fs::remove(file_); }

  void add(const std::string& text) {
    std::ofstream(file_, std::ios::app | std::ios::binary) << text;
    feed_->grew_to(fs::file_size(file_));
  }
  Feed& feed() { return *feed_; }
  Children& children() { return children_; }
  bool is_running() { return end_.wait_for(0s) != std::future_status::ready; }
  ChildEnd end() {
    REQUIRE(end_.wait_for(60s) == std::future_status::ready);
    auto end = end_.get();
    if (!end) FAIL(end.error().message);
    return *std::move(end);
  }

 private:
  fs::path file_;
  std::shared_ptr<Feed> feed_;
  Children children_;
  std::future<Result<ChildEnd>> end_;
};

}  // namespace

TEST_CASE("feed: a child gets every byte in order, however they come") {
  Arriving arriving("cat");
  std::string whole;
  for (int i = 0; i < 300; ++i) {
    const std::string piece(static_cast<std::size_t>(1 + i * 37), static_cast<char>('a' + i % 26));
    whole += piece;
    arriving.add(piece);
  }
  arriving.feed().complete();
  const ChildEnd end = arriving.end();
  CHECK(end.how == How::exited);
  CHECK(end.out == whole);
}

TEST_CASE("feed: more than a pipe holds, to a child that is slow to read") {
  Arriving arriving("read first; sleep 0.2; wc -c");
  const std::string line(std::size_t{8} << 20, 'x');
  arriving.add("\n" + line);
  arriving.feed().complete();
  CHECK(arriving.end().out == std::to_string(line.size()) + "\n");
}

TEST_CASE("feed: nothing at all is an empty input") {
  Arriving arriving("wc -c");
  arriving.feed().complete();
  CHECK(arriving.end().out == "0\n");
}

// Why: the sender's speed is not the child's fault: its time begins with the last byte.
TEST_CASE("feed: the time of the child begins with the last byte") {
  Arriving arriving("cat >&2; exec sleep 600", 100ms);
  arriving.add("{");
  const auto waited = std::chrono::steady_clock::now() + 400ms;
  while (std::chrono::steady_clock::now() < waited) CHECK(arriving.is_running());
  arriving.feed().complete();
  CHECK(arriving.end().how == How::timed_out);
}

// Why: a refusal may come before the upload is there; the rest is received all the same, by nobody.
TEST_CASE("feed: a child that has heard enough ends by itself") {
  Arriving arriving("head -c 1 >/dev/null; echo refused; exit 3");
  for (int i = 0; i < 64; ++i) arriving.add(std::string(std::size_t{64} * 1024, 'x'));
  const ChildEnd end = arriving.end();
  CHECK(end.how == How::exited);
  CHECK(end.code == 3);
  CHECK(end.out == "refused\n");
  arriving.add("more");
  arriving.feed().complete();
}

TEST_CASE("feed: an upload that is given up ends its child, and so does a stop") {
  Arriving given_up("cat");
  given_up.add("{");
  given_up.feed().abandon();
  CHECK(given_up.end().how == How::abandoned);
  Arriving stopped("cat; exec sleep 600");
  stopped.add("{");
  while (stopped.is_running()) stopped.children().stop();
  stopped.feed().complete();
}
