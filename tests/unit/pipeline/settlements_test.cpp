#include "server/pipeline/settlements.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace traceweir;
using namespace traceweir::pipeline;

namespace {

using Runs = std::vector<std::string>;

/// Runs that come and go; what is settled is written down.
struct Lane {
  Settlements settlements;
  std::vector<Runs> settled;
  std::vector<std::string> newest;
  std::map<std::string, MetricInfo> metrics;
  bool store_is_away = false;

  std::unique_ptr<Settlements::Coming> comes(const std::string& project = "demo") {
    return std::make_unique<Settlements::Coming>(settlements, project, settle());
  }

  Settlements::Settle settle() {
    return [this](const Unsettled& due) {
      if (store_is_away) return Settled::no;
      Runs& runs = settled.emplace_back();
      for (const FinishedRun& run : due.runs) runs.push_back(run.id);
      newest.push_back(due.head.id);
      metrics = due.metrics;
      return Settled::yes;
    };
  }
};

Unsettled run(const std::string& id, const std::string& environment = "a100") {
  Unsettled unsettled;
  unsettled.head.id = id;
  unsettled.runs = {{id}};
  unsettled.walked.result.comparable_key = environment;
  unsettled.metrics["gpu.utilization"].id = "gpu.utilization";
  return unsettled;
}

/// The run has its result, and is done.
void end(std::unique_ptr<Settlements::Coming>& coming, Unsettled unsettled) {
  coming->add(std::move(unsettled));
  coming.reset();
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
  end(a, run("a"));  // nothing of the lane was settled for longer than a second
  end(b, run("b"));
  CHECK(lane.settled == std::vector<Runs>{{"a"}});
  end(c, run("c"));
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"b", "c"}});
  CHECK(lane.newest.back() == "c");
}

TEST_CASE("settlements: a run without a result settles what others left to it") {
  Lane lane;
  auto a = lane.comes(), b = lane.comes(), rejected = lane.comes();
  end(a, run("a"));
  end(b, run("b"));
  rejected.reset();
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"b"}});
}

TEST_CASE("settlements: what waits for one that takes long is overdue after a second, and whoever passes settles it") {
  Lane lane;
  auto slow = lane.comes(), a = lane.comes(), b = lane.comes();
  end(a, run("a"));
  end(b, run("b"));
  CHECK(lane.settlements.overdue().empty());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (lane.settlements.overdue().empty() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  CHECK(lane.settlements.overdue() == Runs{"demo"});
  lane.comes().reset();
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"b"}});
  CHECK(lane.settlements.overdue().empty());
}

TEST_CASE("settlements: series are settled apart, and other projects are no reason to wait") {
  Lane lane;
  auto a = lane.comes(), b = lane.comes(), c = lane.comes();
  const auto elsewhere = lane.comes("other");
  end(a, run("a"));
  end(b, run("b", "h100"));
  end(c, run("c"));
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"c"}, {"b"}});
}

TEST_CASE("settlements: one that is only expected keeps others waiting, and settles nothing when it does not come") {
  Lane lane;
  auto a = lane.comes();
  end(a, run("a"));
  std::optional<Settlements::Expected> upload;
  upload.emplace(lane.settlements, "demo");
  auto b = lane.comes();
  end(b, run("b"));
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"b"}});  // alone before it, the lane had forgotten its time
  auto c = lane.comes();
  end(c, run("c"));
  CHECK(lane.settled.size() == 2);
  upload.reset();
  CHECK(lane.settled.size() == 2);
  CHECK(lane.settlements.overdue() == Runs{"demo"});
  lane.comes().reset();
  CHECK(lane.settled.back() == Runs{"c"});
}

TEST_CASE("settlements: what the store did not take waits for it, together with what comes") {
  Lane lane;
  lane.store_is_away = true;
  auto a = lane.comes();
  end(a, run("a"));
  CHECK(lane.settlements.overdue() == Runs{"demo"});
  auto b = lane.comes();
  end(b, run("b"));
  CHECK(lane.settled.empty());
  lane.store_is_away = false;
  lane.comes().reset();
  CHECK(lane.settled == std::vector<Runs>{{"a", "b"}});
  CHECK(lane.newest == Runs{"b"});
  CHECK(lane.settlements.overdue().empty());
}

TEST_CASE("settlements: at the end all is settled, whoever is still expected") {
  Lane lane;
  Settlements::Expected upload(lane.settlements, "demo"), other(lane.settlements, "other");
  for (const char* id : {"a", "b"}) {
    auto coming = lane.comes();
    end(coming, run(id));
  }
  CHECK(lane.settled == std::vector<Runs>{{"a"}});
  lane.settlements.settle_all(lane.settle());
  CHECK(lane.settled == std::vector<Runs>{{"a"}, {"b"}});
}

TEST_CASE("settlements: of too many metrics the newest run's own are kept") {
  Lane lane;
  lane.store_is_away = true;
  for (const std::string id : {"a", "z"}) {
    Unsettled unsettled = run(id);
    unsettled.metrics.clear();
    for (std::size_t i = 0; i < analysed_metrics_max - 1; ++i) unsettled.metrics[id + std::to_string(i)];
    auto coming = lane.comes();
    coming->add(std::move(unsettled));
  }
  lane.settlements.settle_all([&](const Unsettled& due) {
    lane.metrics = due.metrics;
    return Settled::yes;
  });
  CHECK(lane.metrics.size() == analysed_metrics_max);
  CHECK(lane.metrics.contains("z" + std::to_string(analysed_metrics_max - 2)));
}

TEST_CASE("settlements: a store that takes nothing is asked less and less") {
  Lane lane;
  lane.store_is_away = true;
  auto a = lane.comes();
  end(a, run("a"));
  CHECK(lane.settlements.overdue() == Runs{"demo"});
  lane.comes().reset();
  CHECK(lane.settlements.overdue().empty());  // for a second
  auto b = lane.comes();
  lane.store_is_away = false;
  end(b, run("b"));  // who comes asks at once
  CHECK(lane.settled == std::vector<Runs>{{"a", "b"}});
}
