// Damage by chance, the same on every machine: whatever happens to a file, its reader ends, keeps its promises, and
// does not call cut files whole.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/ingest.hpp"
#include "tests/unit/ingest/kineto_files.hpp"
#include "tests/unit/ingest/kineto_support.hpp"

using namespace traceweir;
using namespace traceweir::ingest;
using namespace traceweir::ingest::test;

namespace {

constexpr int mutants = 400;

std::string kineto_job() {
  std::string events = R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 1,)"
                       R"( "dur": 900})";
  for (int i = 0; i < 30; ++i) {
    events += fmt::format(
        ",\n"
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, )"
        R"("ts": {}.125, "dur": 2, "args": {{"correlation": {}}}}})",
        i * 20, i + 1);
    events += fmt::format(
        ",\n"
        R"({{"ph": "X", "cat": "kernel", "name": "k{}", "pid": 0, "tid": 7, "ts": {}.5, "dur": )"
        R"(9.125, "args": {{"device": 0, "stream": 7, "correlation": {}}}}})",
        i % 3, i * 20 + 5, i + 1);
  }
  return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [)" + events + "]}";
}

const char* const stats_job =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    "60.0,600,1,600.0,600.0,600,600,0.0,ncclDevKernel_AllReduce_Sum_f16_RING_LL(x)\n"
    "40.0,400,2,200.0,200.0,150,250,70.7,gemm\n";

const char* const stated_job = R"({"metrics": {"custom.a": {"value": 1.5, "unit": "s", "better": "lower"}}})";

/// One to four changes: a byte, a piece that is gone, a piece that is there twice, a cut.
std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t end) { return random() % (end + 1); };
  for (std::size_t changes = 1 + below(3); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size() - 1);
    const std::size_t size = std::min(1 + below(40), text.size() - at);
    switch (below(3)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, text.substr(at, size));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

void check_shape(const timeline::Timeline& rank) {
  for (const timeline::Work& work : rank.work) {
    CHECK(work.begin <= work.end);
    CHECK(static_cast<std::size_t>(work.device) < rank.devices.size());
    CHECK((work.call == timeline::none || work.call < rank.calls.size()));
  }
}

}  // namespace

TEST_CASE("damage by chance: every file is read or refused with a reason") {
  std::mt19937 random(20261129);
  for (const std::string& job : {kineto_job(), std::string(stats_job), std::string(stated_job)})
    for (int i = 0; i < mutants; ++i) {
      CAPTURE(i);
      std::string bytes = mutated(job, random);
      if (i % 4 == 3) bytes = mutated(gzipped(job), random);
      const auto read = read_trace(BytesFile(bytes).path());
      if (!read) {
        CHECK_FALSE(read.error().message.empty());
        CHECK(is_utf8(read.error().message));
        continue;
      }
      for (const timeline::Timeline& rank : *read) check_shape(rank);
    }
}

// Why: a run that was killed while it wrote must never pass.
TEST_CASE("a trace that is cut is refused or marked, at every byte") {
  const std::string text = kineto_job();
  for (std::size_t size = 1; size < text.size(); ++size) {
    CAPTURE(size);
    const auto read = read_trace(BytesFile(text.substr(0, size)).path());
    if (read) CHECK(read->front().oddities.contains(FindingCode::truncated));
  }
  CHECK_FALSE(read_trace(BytesFile(text).path()).value().front().oddities.contains(FindingCode::truncated));
}
