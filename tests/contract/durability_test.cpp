// What was acknowledged is there after the writer was killed or the disk was full, and nothing is there by halves.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <set>
#include <sstream>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

using Clock = std::chrono::steady_clock;

/// A process that writes lines to a pipe: `B run` when begin_run has returned, `F run` when finish_run has.
class Writer {
 public:
  /// Runs `body(descriptor of the pipe)` in a child.
  explicit Writer(const std::function<void(int)>& body) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::close(ends[0]);
      body(ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    ::kill(child_, SIGKILL);
    if (!waited_) wait();
    ::close(pipe_);
  }

  /// Reads until `lines` lines have come and `until` has passed, or the child has ended.
  void listen(std::size_t lines, Clock::duration longer) {
    std::optional<Clock::time_point> end;
    while (!end || Clock::now() < *end) {
      pollfd ready{pipe_, POLLIN, 0};
      if (::poll(&ready, 1, end ? 0 : 10'000) > 0 && !read_some()) return;
      if (!end && static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) >= lines)
        end = Clock::now() + longer;
    }
  }

  /// Kills the child and returns all whole lines that it wrote.
  std::vector<std::string> kill() {
    ::kill(child_, SIGKILL);
    return end();
  }
  /// Waits for the end of the child.
  std::vector<std::string> end() {
    while (read_some()) continue;
    wait();
    std::vector<std::string> lines;
    std::istringstream in(text_.substr(0, text_.rfind('\n') + 1));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  bool read_some() {
    char buffer[4096];
    const ssize_t count = ::read(pipe_, buffer, sizeof buffer);
    if (count <= 0) return false;
    text_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }
  void wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    waited_ = true;
  }

  pid_t child_ = -1;
  int pipe_ = -1;
  bool waited_ = false;
  std::string text_;
};

void say(int pipe, const std::string& line) {
  const std::string text = line + "\n";
  if (::write(pipe, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(2);
}

/// Writes runs until it is killed.
void write_for_ever(const std::string& url, int round, int pipe) {
  auto store = open_store(url, Opening::service);
  if (!store) return say(pipe, "E " + store.error().message);
  for (int i = 0;; ++i) {
    const std::string id = std::to_string(round) + "-" + std::to_string(i);
    if (const auto begun = (*store)->begin_run(full_head(id), upload_of("blob-" + id)); !begun)
      return say(pipe, "E " + begun.error().message);
    say(pipe, "B " + id);
    if (const auto done = (*store)->finish_run(full_result(id)); !done) return say(pipe, "E " + done.error().message);
    say(pipe, "F " + id);
  }
}

std::set<std::string> with_letter(const std::vector<std::string>& lines, char letter) {
  std::set<std::string> ids;
  for (const std::string& line : lines)
    if (line.at(0) == letter) ids.insert(line.substr(2));
  return ids;
}

std::set<std::string> runs_of_series(Store& store, const std::string& metric) {
  std::set<std::string> ids;
  for (const HistoryPoint& point : must(store.history({"llama", "ddp", "main", metric, 1'000'000})))
    ids.insert(point.run);
  return ids;
}

/// Every run is wholly begun or wholly finished; returns the finished ones and all.
struct Found {
  std::set<std::string> all, judged;
};
Found check_whole(Store& store) {
  Found found;
  for (const RunRecord& listed : must(store.runs({.project = "llama", .limit = 1'000'000}))) {
    const std::string id = listed.head.id;
    CAPTURE(id);
    const RunRecord record = must(store.run("llama", id)).value();
    const RunResult result = full_result(id);
    RunRecord want;
    want.head = full_head(id);
    want.uploads = {upload_of("blob-" + id)};
    if (record.status == RunStatus::judged)
      want = {
          want.head,          want.uploads,        RunStatus::judged, result.outcome,       result.comparable_key, true,
          result.report_json, result.verdict_json, result.error_code, result.error_message, result.finished_at};
    CHECK(text_of(record) == text_of(want));
    found.all.insert(id);
    if (record.status == RunStatus::judged) found.judged.insert(id);
  }
  for (const auto& [metric, value] : full_result("").values) CHECK(runs_of_series(store, metric) == found.judged);
  for (const RunRecord& record : must(store.unfinished_runs())) CHECK(found.judged.count(record.head.id) == 0);
  CHECK(must(store.unfinished_runs()).size() == found.all.size() - found.judged.size());
  return found;
}

void check_contains(const std::set<std::string>& all, const std::set<std::string>& some) {
  CHECK(std::includes(all.begin(), all.end(), some.begin(), some.end()));
}

}  // namespace

TEST_CASE("store: kill -9 in the middle of writes loses nothing that was acknowledged") {
  on_each_store([](StoreUnderTest& under_test) {
    add_project(*under_test.open());
    std::mt19937 random(20261129);  // a fixed seed; the moment of the kill still differs with the machine
    std::set<std::string> begun, finished;
    for (int round = 0; round < 20; ++round) {
      CAPTURE(round);
      Writer writer([&](int pipe) { write_for_ever(under_test.url(), round, pipe); });
      writer.listen(1 + random() % 40, std::chrono::microseconds(random() % 3'000));
      const auto lines = writer.kill();
      CHECK(with_letter(lines, 'E').empty());
      begun.merge(with_letter(lines, 'B'));
      finished.merge(with_letter(lines, 'F'));

      const auto store = under_test.open();
      const Found found = check_whole(*store);
      check_contains(found.all, begun);
      check_contains(found.judged, finished);
      CHECK(found.all.size() <= begun.size() + static_cast<std::size_t>(round) + 1);  // at most one more per kill
    }
    CHECK(begun.size() >= 20);
    CHECK(under_test.damage() == "");
  });
}

namespace {

/// Writes runs of 64 KiB until there is no room any more; then with room again.
void write_until_full(StoreUnderTest& under_test, int pipe) {
  auto store = open_store(under_test.url(), Opening::service);
  if (!store) return say(pipe, "E " + store.error().message);
  under_test.fill_disk();
  RunHead head = full_head("x");
  ErrorCode code = ErrorCode::internal;
  for (int i = 0; code == ErrorCode::internal && i < 1'000; ++i) {
    head.id = std::to_string(i);
    head.idempotency_key = head.id;
    head.policy = head.id + std::string(std::size_t{64} << 10, '#');
    const auto begun = (*store)->begin_run(head, upload_of("blob-" + head.id));
    if (begun)
      say(pipe, "B " + head.id);
    else
      code = begun.error().code;
  }
  say(pipe, "C " + std::string(word(code)));
  say(pipe, (*store)->ready() ? "R ready" : "E not ready");
  under_test.free_disk();
  // The same upload again, as a client would retry it.
  const auto again = (*store)->begin_run(head, upload_of("blob-" + head.id));
  if (!again) return say(pipe, "E " + again.error().message);
  say(pipe, again->state == Begun::State::created ? "B " + head.id : "E half of the refused run was kept");
}

}  // namespace

TEST_CASE("store: a full disk is an error of its own, and the store goes on when there is room") {
  on_each_store([](StoreUnderTest& under_test) {
    add_project(*under_test.open());
    Writer writer([&](int pipe) { write_until_full(under_test, pipe); });
    const auto lines = writer.end();
    CHECK(with_letter(lines, 'E') == std::set<std::string>{});
    CHECK(with_letter(lines, 'C') == std::set<std::string>{"disk_full"});
    CHECK(with_letter(lines, 'R').size() == 1);
    const auto begun = with_letter(lines, 'B');
    CHECK(begun.size() > 10);

    CHECK(under_test.damage() == "");
    const auto store = under_test.open();
    std::set<std::string> found;
    for (const RunRecord& record : must(store->runs({.project = "llama", .limit = 10'000}))) {
      CHECK(record.head.policy.size() == (std::size_t{64} << 10) + record.head.id.size());
      found.insert(record.head.id);
    }
    CHECK(found == begun);
  });
}
