// Why: every ratio rests on unions of intervals. This checker knows none: it asks of each single nanosecond of small
// random traces what ran in it, and must come to the same integers.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/timeline/builder.hpp"

using namespace traceweir;
using timeline::WorkKind;

namespace {

constexpr std::int64_t clock_end = 120;

/// A row of work as it is drawn.
struct Drawn {
  std::int64_t begin, length, device, stream;
  WorkKind kind;
  timeline::Collective collective;
  timeline::Direction direction;
};

Drawn any_row() {
  Drawn row{};
  row.begin = *rc::gen::inRange<std::int64_t>(1, clock_end);
  row.length = *rc::gen::inRange<std::int64_t>(0, 30);
  row.device = *rc::gen::inRange(0, 3);
  row.stream = *rc::gen::inRange(0, 4);
  row.kind = *rc::gen::element(WorkKind::compute, WorkKind::comm, WorkKind::memory, WorkKind::graph);
  row.collective = *rc::gen::element(timeline::Collective::allreduce, timeline::Collective::sendrecv);
  row.direction = *rc::gen::element(timeline::Direction::h2d, timeline::Direction::d2h);
  return row;
}

timeline::Timeline timeline_of(const std::vector<Drawn>& rows) {
  timeline::TimelineBuilder builder;
  std::int64_t correlation = 0;  // distinct, so that no two rows are duplicates
  for (const Drawn& row : rows) {
    const bool copy = row.kind == WorkKind::memory;
    timeline::WorkRow work{.span = {Nanos{row.begin}, Nanos{row.begin + row.length}},
                           .device = builder.device(row.device),
                           .name = builder.name("work")};
    work.stream = row.stream;
    work.correlation = ++correlation;
    work.kind = row.kind;
    work.source = copy ? timeline::WorkSource::memcpy : timeline::WorkSource::kernel;
    if (row.kind == WorkKind::comm) work.collective = row.collective;
    if (copy) work.direction = row.direction;
    builder.add(work);
  }
  return std::move(builder).finish();
}

/// What one nanosecond of one device holds.
bool runs(const std::vector<Drawn>& rows, std::int64_t device, std::int64_t t, WorkKind kind) {
  for (const Drawn& row : rows)
    if (row.device == device && row.kind == kind && row.begin <= t && t < row.begin + row.length) return true;
  return false;
}

struct Counted {
  std::int64_t compute = 0, graph = 0, exposed_comm = 0, exposed_memory = 0, idle = 0, comm = 0, memory = 0;
};

Counted count(const std::vector<Drawn>& rows, std::int64_t device, Interval window) {
  Counted counted;
  for (std::int64_t t = window.begin.count(); t < window.end.count(); ++t) {
    const bool compute = runs(rows, device, t, WorkKind::compute), graph = runs(rows, device, t, WorkKind::graph);
    const bool comm = runs(rows, device, t, WorkKind::comm), memory = runs(rows, device, t, WorkKind::memory);
    counted.comm += comm ? 1 : 0;
    counted.memory += memory ? 1 : 0;
    if (compute)
      ++counted.compute;
    else if (graph)
      ++counted.graph;
    else if (comm)
      ++counted.exposed_comm;
    else if (memory)
      ++counted.exposed_memory;
    else
      ++counted.idle;
  }
  return counted;
}

/// Union of one kind of communication, and what of it no compute covers, over the devices with work in the window.
std::array<std::int64_t, 2> count_kind(const std::vector<Drawn>& rows, const metrics::RankView& view,
                                       timeline::Collective kind) {
  std::array<std::int64_t, 2> counted{};
  std::vector<Drawn> of_kind;
  for (const Drawn& row : rows)
    if (row.kind == WorkKind::comm && row.collective == kind) of_kind.push_back(row);
  for (const metrics::DeviceView& device : view.devices)
    for (std::int64_t t = view.window->span.begin.count(); t < view.window->span.end.count(); ++t) {
      const std::int64_t ordinal = device.times.device;
      if (!runs(of_kind, ordinal, t, WorkKind::comm)) continue;
      ++counted[0];
      const bool covered = runs(rows, ordinal, t, WorkKind::compute) || runs(rows, ordinal, t, WorkKind::graph);
      counted[1] += covered ? 0 : 1;
    }
  return counted;
}

void check_device(const std::vector<Drawn>& rows, const metrics::DeviceView& device, Interval window) {
  const Counted counted = count(rows, device.times.device, window);
  RC_ASSERT(device.times.compute.count() == counted.compute);
  RC_ASSERT(device.times.graph.count() == counted.graph);
  RC_ASSERT(device.times.exposed_comm.count() == counted.exposed_comm);
  RC_ASSERT(device.times.exposed_memory.count() == counted.exposed_memory);
  RC_ASSERT(device.times.idle.count() == counted.idle);
  RC_ASSERT(device.comm.total().count() == counted.comm);
  RC_ASSERT(device.memory.total().count() == counted.memory);
}

}  // namespace

TEST_CASE("every nanosecond asked one by one gives the same times") {
  const bool ok = rc::check("device times, unions of kinds", [] {
    std::vector<Drawn> rows;
    const int size = *rc::gen::inRange(1, 25);
    for (int i = 0; i < size; ++i) rows.push_back(any_row());
    const timeline::Timeline timeline = timeline_of(rows);
    metrics::MeasureOptions options;
    options.window = metrics::WindowKind::range;
    const std::int64_t from = *rc::gen::inRange<std::int64_t>(0, 60);
    options.range = {Nanos{from}, Nanos{from + *rc::gen::inRange<std::int64_t>(1, 80)}};
    const auto view = metrics::view_of(timeline, options);
    RC_ASSERT(view.has_value());
    for (const metrics::DeviceView& device : view->devices) check_device(rows, device, view->window->span);
    for (const auto kind : {timeline::Collective::allreduce, timeline::Collective::sendrecv}) {
      const auto counted = count_kind(rows, *view, kind);
      const metrics::KindTally& tally = view->kinds[static_cast<std::size_t>(kind)];
      RC_ASSERT(tally.united.clamped() == counted[0]);
      RC_ASSERT(tally.exposed.clamped() == counted[1]);
    }
  });
  CHECK(ok);
}
