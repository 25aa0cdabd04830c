// Where acceptances stand on the way back from a run.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "server/pipeline/lineage.hpp"

using namespace traceweir;
using namespace traceweir::pipeline;

namespace {

store::Timestamp second(std::int64_t n) { return store::Timestamp{std::chrono::seconds{n}}; }

store::RunHead head_of(const std::string& commit) {
  store::RunHead head;
  head.commit = commit;
  head.received_at = second(100);
  return head;
}

store::Acceptance accepted(const std::string& commit, std::vector<std::string> descendants = {}) {
  store::Acceptance acceptance;
  acceptance.commit = commit;
  acceptance.branch = "main";
  acceptance.children = std::move(descendants);
  return acceptance;
}

std::vector<store::BaselineRow> rows_of(const std::vector<std::string>& commits) {
  std::vector<store::BaselineRow> rows;
  std::int64_t time = 90;
  for (const std::string& commit : commits) rows.push_back({commit, commit, {}, second(time -= 10)});
  return rows;
}

}  // namespace

TEST_CASE("lineage: along known ancestors") {
  const store::RunHead head = head_of("c5");
  const Lineage lineage{head, "main", {"c4", "c3", "c2", "c1"}, {"c5", "c4"}};
  const Ancestry ancestry(lineage);
  const auto rows = rows_of({"c4", "c3", "c1"});
  struct Row {
    const char* what;
    store::Acceptance acceptance;
    std::optional<std::size_t> distance, rows;
  };
  const Row table[] = {
      {"the commit itself", accepted("c5"), 0, 0},
      {"its parent", accepted("c4"), 1, 1},
      {"further back", accepted("c3"), 2, 2},
      {"one without a run", accepted("c2"), 3, 2},
      {"the oldest", accepted("c1"), 4, 3},
      {"another line", accepted("x"), std::nullopt, std::nullopt},
      {"merged by an ancestor", accepted("x", {"y", "c3"}), 2, 2},
      {"merged with commits on top of it", accepted("x", {"x2", "c3", "c4", "c5"}), 2, 2},
      {"merged through another branch", accepted("x", {"m", "n", "c4", "c5"}), 1, 1},
      {"merged by the commit itself", accepted("x", {"c5"}), 0, 0},
      {"its own place counts, not that of its descendants", accepted("c2", {"c3"}), 3, 2},
  };
  for (const Row& row : table) {
    CAPTURE(row.what);
    CHECK(ancestry.distance(row.acceptance) == row.distance);
    if (row.rows) CHECK(ancestry.rows_since(row.acceptance, rows) == *row.rows);
  }
}

TEST_CASE("lineage: commits of a pull request are nearer than its merge base") {
  const store::RunHead head = head_of("p2");
  const Lineage lineage{head, "main", {"c4", "c3"}, {"p2", "p1", "c4", "c3"}};
  const Ancestry ancestry(lineage);
  CHECK(ancestry.distance(accepted("p1")) == 0u);
  CHECK(ancestry.rows_since(accepted("p1"), rows_of({"c4", "c3"})) == 0);
  CHECK(ancestry.distance(accepted("c4")) == 1u);
}

TEST_CASE("lineage: without ancestors the order of receipt decides, on the baseline branch") {
  const store::RunHead head = head_of("c5");
  const Lineage lineage{head, "main", {}, {}};
  const Ancestry ancestry(lineage);
  const auto rows = rows_of({"c4", "c3", "c1"});  // received at 80, 70, 60
  store::Acceptance acceptance = accepted("c3");
  acceptance.run_received_at = second(70);
  CHECK(ancestry.distance(acceptance) == 0u);
  CHECK(ancestry.rows_since(acceptance, rows) == 2);
  acceptance.run_received_at = second(100);  // not before this run
  CHECK_FALSE(ancestry.distance(acceptance).has_value());
  acceptance.run_received_at = second(70);
  acceptance.branch = "topic";
  CHECK_FALSE(ancestry.distance(acceptance).has_value());
  acceptance.commit = "c5";
  CHECK(ancestry.distance(acceptance) == 0u);
  CHECK(ancestry.rows_since(acceptance, rows) == 0);
}
