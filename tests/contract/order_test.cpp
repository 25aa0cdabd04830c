// A history comes in commit order, and a baseline along the commits that were asked for.
#include <sstream>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// `lines`: "3>2 2>1" is 1, its child 2 and its child 3.
void put_graph(Store& store, const std::string& lines, const std::string& project = "llama") {
  std::vector<Commit> commits;
  for (const std::string& line : words_of(lines)) {
    const auto arrow = line.find('>');
    commits.push_back({line.substr(0, arrow), {line.substr(arrow + 1)}, std::nullopt, "", ""});
  }
  must(store.put_commits(project, commits));
}

/// One run for each commit, received in this order; "7@topic" is one of another branch.
void upload(Store& store, const std::string& commits, std::int64_t first = 0) {
  for (const std::string& word : words_of(commits)) {
    const auto sign = word.find('@');
    RunHead head = plain_head("r" + std::to_string(first));
    head.commit = word.substr(0, sign);
    if (sign != word.npos) head.branch = word.substr(sign + 1);
    head.received_at = at(first);
    add_run(store, head, plain_result(head.id, static_cast<double>(first++)));
  }
}

std::string commits_of(const std::vector<HistoryPoint>& points) {
  std::string commits;
  for (const HistoryPoint& point : points) commits += (commits.empty() ? "" : " ") + point.commit;
  return commits;
}

std::string history(Store& store, std::int64_t limit = 10'000, std::string_view branch = "main") {
  return commits_of(must(store.history({"llama", "ddp", std::string(branch), "gpu.utilization", limit})));
}

}  // namespace

TEST_CASE("store: a history comes in commit order") {
  struct Row {
    const char *what, *graph, *uploads, *want;
  };
  const Row rows[] = {
      {"in order", "3>2 2>1", "1 2 3", "1 2 3"},
      {"out of order", "3>2 2>1", "1 3 2", "1 2 3"},
      {"in reverse", "4>3 3>2 2>1", "4 3 2 1", "1 2 3 4"},
      {"back-filled behind a newer upload", "5>4 4>3 3>2 2>1", "1 5 2 4 3", "1 2 3 4 5"},
      {"commits without a run lie between", "5>4 4>3 3>2 2>1", "5 1 3", "1 3 5"},
      {"a further run of an old commit", "3>2 2>1", "1 2 3 1", "1 1 2 3"},
      {"no graph: by receipt", "", "1 3 2", "1 3 2"},
      {"the graph does not reach: by receipt", "3>2 9>8", "9 3 1 2", "9 2 3 1"},
      {"what the graph does not know keeps its place", "3>2 2>1", "1 x 3 y 2", "1 x 2 3 y"},
      {"a hole in the graph parts what is known", "5>4 4>3 2>1", "2 1 5 4 3", "1 2 3 4 5"},
      {"a fork: what is no ancestor stays by receipt", "2>1 3>2 a>1 b>a", "1 2 a 3 b", "1 2 a 3 b"},
      {"a fork, out of order", "2>1 3>2 a>1 b>a", "b 3 2 a 1", "1 a b 2 3"},
      {"a circle is not followed for ever", "1>2 2>1", "2 1 2", "2 2 1"},
      {"a circle that was not measured", "1>x x>y y>x 2>y", "2 1", "2 1"},
      {"its own parent", "1>1 2>1", "2 1", "1 2"},
  };
  for (const Row& row : rows)
    on_each_store([&](StoreUnderTest& under_test) {
      CAPTURE(row.what);
      const auto store = under_test.open();
      add_project(*store);
      put_graph(*store, row.graph);
      upload(*store, row.uploads);
      CHECK(history(*store) == row.want);
    });
}

TEST_CASE("store: only the first parent orders a history") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    const Commit merge{"m", {"1", "topic"}, std::nullopt, "", ""};
    must(store->put_commits("llama", std::span(&merge, 1)));
    upload(*store, "m topic 1");
    CHECK(history(*store) == "1 m topic");
  });
}

TEST_CASE("store: a graph that comes after the runs orders them, and that of another project does not") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "bert");
    upload(*store, "1 3 2");
    put_graph(*store, "3>2 2>1", "bert");
    CHECK(history(*store) == "1 3 2");
    put_graph(*store, "3>2 2>1");
    CHECK(history(*store) == "1 2 3");
  });
}

TEST_CASE("store: runs of one commit stay in order of receipt, with their own values") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    put_graph(*store, "2>1");
    upload(*store, "2 1 1 2");
    std::string runs;
    for (const HistoryPoint& point : must(store->history({"llama", "ddp", "main", "gpu.utilization", 10})))
      runs += point.run + "=" + std::to_string(static_cast<int>(point.value)) + " ";
    CHECK(runs == "r1=1 r2=2 r0=0 r3=3 ");
  });
}

TEST_CASE("store: the newest points are chosen by receipt and then ordered, over all branches too") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    put_graph(*store, "5>4 4>3 3>2 2>1 t>2");
    upload(*store, "1 5 t@topic 4 2");
    CHECK(history(*store, 3) == "2 4 5");
    CHECK(history(*store, 1) == "2");
    CHECK(history(*store, 4, "") == "2 4 5 t");
    CHECK(history(*store, 10'000, "topic") == "t");
  });
}

TEST_CASE("store: a baseline keeps the runs of the nearest commits, whenever they were received") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    // Why: 5 and 4 were measured first; later the old commits 1 and 2 were back-filled many times.
    upload(*store, "5 4 1 2 1 2 1 2 4");
    BaselineQuery query{.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"};
    query.commits = {"5", "4", "3", "2", "1"};
    struct Row {
      std::int64_t limit;
      const char* want;
    };
    const Row rows[] = {
        {1, "r0"}, {2, "r0 r8"}, {3, "r0 r8 r1"}, {4, "r0 r8 r1 r7"}, {100, "r0 r8 r1 r7 r5 r3 r6 r4 r2"}};
    for (const Row& row : rows) {
      CAPTURE(row.limit);
      query.limit = row.limit;
      CHECK(ids_of(must(store->baseline(query))) == row.want);
    }
  });
}
