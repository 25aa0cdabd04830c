#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>

#include "tests/differential/jobs.hpp"
#include "tests/differential/measured.hpp"
#include "tools/make_trace/simulate.hpp"

using namespace traceweir;
using namespace traceweir::differential;

namespace {

Format any_format() { return *rc::gen::element(Format::kineto, Format::nsys); }

template <typename Row>
void shift(std::vector<Row>& rows, make_trace::Ns by) {
  for (Row& row : rows) {
    row.begin += by;
    row.end += by;
  }
}

/// A trace of one rank with a second stream of no consequence: every compute kernel is cut in two that touch.
make_trace::Trace with_split_kernels(make_trace::Trace trace) {
  std::vector<make_trace::Work> split;
  for (const make_trace::Work& work : trace.ranks.front().work) {
    split.push_back(work);
    if (work.kind != make_trace::WorkKind::compute) continue;
    split.back().end = work.begin + (work.end - work.begin) / 2;
    split.push_back(work);
    split.back().begin = split[split.size() - 2].end;
  }
  trace.ranks.front().work = split;
  return trace;
}

std::string device_text(const metrics::RankMeasures& measures) {
  std::string text;
  for (const auto& device : measures.devices)
    for (const Nanos time : {device.compute, device.exposed_comm, device.exposed_memory, device.idle})
      text += std::to_string(time.count()) + " ";
  return text;
}

}  // namespace

TEST_CASE("invariance: when the profiler was started changes nothing") {
  CHECK(rc::check("shifted in time", [] {
    const auto trace = make_trace::simulate(any_job());
    auto shifted = trace;
    const auto by = *rc::gen::inRange<std::int64_t>(0, 3'600'000'000'000);
    shift(shifted.ranks.front().work, by);
    shift(shifted.ranks.front().calls, by);
    shift(shifted.ranks.front().ranges, by);
    const Format format = any_format();
    RC_ASSERT(by_id(measured(trace, 0, format)) == by_id(measured(shifted, 0, format)));
  }));
}

TEST_CASE("invariance: the order of the rows in the file changes nothing") {
  CHECK(rc::check("permuted", [] {
    const auto trace = make_trace::simulate(any_job());
    auto permuted = trace;
    std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
    std::shuffle(permuted.ranks.front().work.begin(), permuted.ranks.front().work.end(), random);
    std::shuffle(permuted.ranks.front().calls.begin(), permuted.ranks.front().calls.end(), random);
    std::shuffle(permuted.ranks.front().ranges.begin(), permuted.ranks.front().ranges.end(), random);
    const Format format = any_format();
    RC_ASSERT(by_id(measured(trace, 0, format)) == by_id(measured(permuted, 0, format)));
  }));
}

TEST_CASE("invariance: a kernel cut in two that touch takes the same time") {
  CHECK(rc::check("split", [] {
    const auto trace = make_trace::simulate(any_job());
    const Format format = any_format();
    RC_ASSERT(device_text(measured(trace, 0, format)) == device_text(measured(with_split_kernels(trace), 0, format)));
  }));
}

// Why: unions are taken per device; which stream a span ran on must not matter.
TEST_CASE("invariance: streams merged into one, or each span on its own, measure the same") {
  CHECK(rc::check("streams", [] {
    const auto trace = make_trace::simulate(any_job());
    auto merged = trace;
    auto apart = trace;
    int stream = 100;
    for (make_trace::Work& work : merged.ranks.front().work) work.stream = 7;
    for (make_trace::Work& work : apart.ranks.front().work) work.stream = ++stream;
    const Format format = any_format();
    const auto values = by_id(measured(trace, 0, format));
    RC_ASSERT(values == by_id(measured(merged, 0, format)));
    RC_ASSERT(values == by_id(measured(apart, 0, format)));
  }));
}

TEST_CASE("invariance: the same file measures the same twice") {
  const auto trace = make_trace::simulate({});
  for (const Format format : formats) CHECK(by_id(measured(trace, 0, format)) == by_id(measured(trace, 0, format)));
}
