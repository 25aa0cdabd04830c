#include "analyzer/timeline/builder.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace tml = traceweir::timeline;
using traceweir::FindingCode;
using traceweir::Interval;
using traceweir::Nanos;

namespace {

struct CallSpec {
  Interval span;
  std::int64_t thread;
  std::int64_t correlation;
  std::string name;
};

/// Rows of a small trace, as a reader would add them.
struct Trace {
  std::vector<tml::WorkRow> work;  // `name` is filled when it is built
  std::vector<CallSpec> calls;
};

std::int64_t number(std::int64_t from, std::int64_t to) { return *rc::gen::inRange(from, to); }

Interval any_span() { return {Nanos{number(0, 12)}, Nanos{number(0, 12)}}; }

Trace any_trace() {
  Trace trace;
  trace.work.resize(*rc::gen::inRange<std::size_t>(0, 20));
  for (auto& row : trace.work) {
    row.span = any_span();
    row.stream = number(0, 2);
    row.correlation = number(-1, 6);
    row.device = static_cast<tml::DeviceIndex>(number(0, 2));
    row.name = static_cast<tml::NameId>(number(0, 2));
  }
  trace.calls.resize(*rc::gen::inRange<std::size_t>(0, 12));
  for (auto& call : trace.calls)
    call = {any_span(), number(0, 2), number(-1, 6),
            *rc::gen::element<std::string>("cudaLaunchKernel_v7000", "cudaDeviceSynchronize", "cudaMalloc_v3020")};
  return trace;
}

tml::Timeline built(const Trace& trace) {
  tml::TimelineBuilder builder;
  for (std::int64_t ordinal = 0; ordinal < 2; ++ordinal) (void)builder.device(ordinal);
  (void)builder.name("kernel_a");
  (void)builder.name("kernel_b");
  builder.has_host_calls = true;
  for (const auto& row : trace.work) builder.add(row);
  for (const auto& call : trace.calls)
    builder.add(
        tml::CallRow{.span = call.span, .thread = call.thread, .correlation = call.correlation, .name = call.name});
  return std::move(builder).finish();
}

std::int64_t count_of(const tml::Timeline& timeline, FindingCode code) {
  const auto found = timeline.oddities.find(code);
  return found == timeline.oddities.end() ? 0 : found->second.count;
}

/// Which call launched work of `correlation`, by the words of the contract: earliest, then longest.
std::optional<Interval> launch_of(const Trace& trace, std::int64_t correlation) {
  std::optional<Interval> best;
  for (const auto& call : trace.calls) {
    if (correlation <= 0 || call.correlation != correlation || call.span.end < call.span.begin) continue;
    const auto better = [&] {
      return !best || call.span.begin < best->begin || (call.span.begin == best->begin && call.span.end > best->end);
    };
    if (better()) best = call.span;
  }
  return best;
}

/// Work::row counts the rows that were accepted, in the order of the file.
std::int64_t correlation_of(const Trace& trace, const tml::Work& work) {
  std::size_t accepted = 0;
  for (const auto& row : trace.work) {
    if (row.span == Interval{} || row.span.end < row.span.begin) continue;
    if (accepted++ == work.row) return row.correlation;
  }
  return -1;
}

auto row_key(const tml::WorkRow& row) {
  return std::tuple(row.device, row.stream, row.span.begin, row.span.end, row.name, row.correlation);
}

}  // namespace

// Why: the reader hands over what it finds; what remains and what is counted must be exactly what the contract says.
TEST_CASE("TimelineBuilder: rows are dropped, counted and joined as brute force does it") {
  CHECK(rc::check("against brute force", [] {
    const Trace trace = any_trace();
    const tml::Timeline timeline = built(trace);

    std::set<decltype(row_key(trace.work.front()))> kept;
    std::int64_t negative = 0;
    std::int64_t zero = 0;
    std::int64_t duplicates = 0;
    std::int64_t orphans = 0;
    for (const auto& row : trace.work) {
      if (row.span == Interval{})
        ++zero;
      else if (row.span.end < row.span.begin)
        ++negative;
      else if (!kept.insert(row_key(row)).second)
        ++duplicates;
      else if (!launch_of(trace, row.correlation))
        ++orphans;
    }
    for (const auto& call : trace.calls)
      if (call.span.end < call.span.begin) ++negative;
    RC_ASSERT(timeline.work.size() == kept.size());
    RC_ASSERT(count_of(timeline, FindingCode::negative_duration) == negative);
    RC_ASSERT(count_of(timeline, FindingCode::zero_timestamps) == zero);
    RC_ASSERT(count_of(timeline, FindingCode::duplicate_events) == duplicates);
    RC_ASSERT(count_of(timeline, FindingCode::orphan_kernels) == orphans);

    for (const tml::Work& work : timeline.work) {
      const auto want = launch_of(trace, correlation_of(trace, work));
      RC_ASSERT((work.call != tml::none) == want.has_value());
      if (want) RC_ASSERT(timeline.calls[work.call].span() == *want);
    }
  }));
}

// Why: everything downstream relies on the shape that timeline.hpp promises.
TEST_CASE("TimelineBuilder: a Timeline has its shape, whatever the order of the rows") {
  CHECK(rc::check("shape", [] {
    Trace trace = any_trace();
    const tml::Timeline timeline = built(trace);
    RC_ASSERT(std::is_sorted(timeline.work.begin(), timeline.work.end(), [](const tml::Work& a, const tml::Work& b) {
      return std::tie(a.begin, a.stream, a.row) < std::tie(b.begin, b.stream, b.row);
    }));
    RC_ASSERT(std::is_sorted(timeline.calls.begin(), timeline.calls.end(),
                             [](const tml::Call& a, const tml::Call& b) { return a.begin < b.begin; }));
    std::vector<bool> launches(timeline.calls.size());
    for (const tml::Work& work : timeline.work) {
      RC_ASSERT(static_cast<std::size_t>(work.device) < timeline.devices.size());
      RC_ASSERT(static_cast<std::size_t>(work.name) < timeline.names.size());
      if (work.call != tml::none) launches.at(work.call) = true;
    }
    for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
      const tml::Call& call = timeline.calls[i];
      RC_ASSERT(launches[i] || call.blocking || call.allocates);
      RC_ASSERT(static_cast<std::uint32_t>(call.thread) < timeline.thread_count);
    }

    std::reverse(trace.work.begin(), trace.work.end());
    std::reverse(trace.calls.begin(), trace.calls.end());
    const tml::Timeline again = built(trace);
    RC_ASSERT(again.work.size() == timeline.work.size());
    RC_ASSERT(again.calls.size() == timeline.calls.size());
    for (std::size_t i = 0; i < timeline.calls.size(); ++i)
      RC_ASSERT(again.calls[i].span() == timeline.calls[i].span());
    RC_ASSERT(count_of(again, FindingCode::duplicate_events) == count_of(timeline, FindingCode::duplicate_events));
  }));
}
