#include "server/pipeline/settlements.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace traceweir;
using namespace traceweir::pipeline;

namespace {

using Runs = std::vector<std::string>;

/// Runs of one lane that come and go; what is settled is written down.
struct Lane {
  Settlements settlements;
  std::vector<Runs> settled;
  std::vector<std::string> newest;

  std::unique_ptr<Settlements::Coming> comes(const std::string& branch = "main") {
    store::RunHead head;
    head.project = "demo", head.workload = "default", head.branch = branch;
    return std::make_unique<Settlements::Coming>(settlements, head, [this](Unsettled& due) {
      settled.push_back(due.runs);
      newest.push_back(due.head.id);
    });
  }
};

Unsettled run(const std::string& id, const std::string& environment = "a100") {
  Unsettled unsettled;
  unsettled.head.id = id;
  unsettled.runs = {id};
  unsettled.walked.result.comparable_key = environment;
  unsettled.metrics["gpu.utilization"].id = "gpu.utilization";
  return unsettled;
}

}  // namespace

TEST_CASE("settlements: a run that comes alone is settled when it ends") {
  Lane lane;
  for (const char* id : {"a", "b"}) {
    auto coming = lane.comes();
    coming->add(run(id));
    CHECK(lane.newest.size() == (*id == 'a' ? 0 : 1));
    coming.reset();
  }
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"b"}});
}

TEST_CASE("settlements: of runs that come together the last one settles, once, in the order of their ends") {
  Lane lane;
  auto a = lane.comes(), b = lane.comes(), c = lane.comes();
  a->add(run("a"));
  a.reset();  // nothing of the lane was settled for longer than a second
  b->add(run("b"));
  b.reset();
  CHECK(lane.settled == std::vector<Runs>{{"a"}});
  c->add(run("c"));
  c.reset();
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"b", "c"}});
  CHECK(lane.newest.back() == "c");
}

TEST_CASE("settlements: a run without a result settles what others left to it") {
  Lane lane;
  auto a = lane.comes(), b = lane.comes(), rejected = lane.comes();
  a->add(run("a"));
  a.reset();
  b->add(run("b"));
  b.reset();
  rejected.reset();
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"b"}});
}

TEST_CASE("settlements: series are settled apart, and other lanes are no reason to wait") {
  Lane lane;
  auto a = lane.comes(), b = lane.comes(), c = lane.comes();
  const auto elsewhere = lane.comes("other");
  a->add(run("a"));
  a.reset();
  b->add(run("b", "h100"));
  b.reset();
  c->add(run("c"));
  c.reset();
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"c"}, {"b"}});
}
