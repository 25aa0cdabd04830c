// For: small timelines by hand, in a few words per row. Times are in microseconds, so that tests read like drawings.
// Not for: traces as files (tools/make_trace).
#pragma once

#include <string>
#include <string_view>

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/timeline/builder.hpp"

namespace traceweir::metrics {

constexpr Interval us(std::int64_t begin, std::int64_t end) { return {Nanos{begin * 1000}, Nanos{end * 1000}}; }

/// A job under construction: one process with one host thread unless told otherwise.
class Scene {
 public:
  Scene() {
    builder_.has_host_calls = true;
    device_ = builder_.device(0);
  }

  timeline::TimelineBuilder& builder() { return builder_; }
  Scene& on_device(std::int64_t ordinal) {
    device_ = builder_.device(ordinal);
    return *this;
  }
  Scene& on_thread(std::int64_t thread) {
    thread_ = thread;
    return *this;
  }

  Scene& kernel(Interval span, std::string_view name = "gemm") {
    return add(row(span, name, timeline::WorkKind::compute, timeline::WorkSource::kernel));
  }

  Scene& graph(Interval span) {
    return add(row(span, "CUDA graph", timeline::WorkKind::graph, timeline::WorkSource::graph_launch));
  }

  Scene& collective(Interval span, timeline::Collective kind, const timeline::Message& message = {}) {
    timeline::WorkRow work = row(span, "ncclDevKernel", timeline::WorkKind::comm, timeline::WorkSource::kernel);
    work.collective = kind;
    if (message != timeline::Message{}) work.message = builder_.message(message);
    return add(work);
  }

  Scene& copy(Interval span, timeline::Direction direction, std::int64_t bytes = 0,
              timeline::HostMemory memory = timeline::HostMemory::unknown) {
    timeline::WorkRow work = row(span, "Memcpy", timeline::WorkKind::memory, timeline::WorkSource::memcpy);
    work.direction = direction;
    work.bytes = bytes;
    work.host_memory = memory;
    return add(work);
  }

  /// The call that launches the row added next.
  Scene& launched_by(Interval call, std::string_view name = "cudaLaunchKernel") {
    launch_ = ++correlations_;
    builder_.add(timeline::CallRow{call, thread_, launch_, name});
    return *this;
  }

  Scene& call(Interval span, std::string_view name) {
    builder_.add(timeline::CallRow{span, thread_, 0, name});
    return *this;
  }

  Scene& range(Interval span, std::string_view name, timeline::RangeKind kind = timeline::RangeKind::user) {
    builder_.add(timeline::RangeRow{span, thread_, builder_.range_name(name), kind});
    return *this;
  }

  timeline::Timeline finish() { return std::move(builder_).finish(); }

 private:
  timeline::WorkRow row(Interval span, std::string_view name, timeline::WorkKind kind, timeline::WorkSource source) {
    timeline::WorkRow work;
    work.span = span;
    work.device = device_;
    work.stream = 7;
    work.correlation = std::exchange(launch_, 0);
    work.name = builder_.name(name);
    work.kind = kind;
    work.source = source;
    return work;
  }

  Scene& add(const timeline::WorkRow& work) {
    builder_.add(work);
    return *this;
  }

  timeline::TimelineBuilder builder_;
  timeline::DeviceIndex device_{};
  std::int64_t thread_ = 1;
  std::int64_t correlations_ = 0;
  std::int64_t launch_ = 0;
};

/// `count` steps of `length` us from t = 0: host range `ProfilerStep#i`, and a kernel of `busy` us launched at its
/// start that begins 10 us later.
inline Scene training(std::int64_t count, std::int64_t length, std::int64_t busy) {
  Scene scene;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t t = i * length;
    scene.range(us(t, t + length), "ProfilerStep#" + std::to_string(i));
    scene.launched_by(us(t, t + 5)).kernel(us(t + 10, t + 10 + busy));
  }
  return scene;
}

/// What a metric of the rank says: `0.25`, `12` or a reason word. Numbers as text keep integers and floats apart.
inline std::string said(const RankMeasures& measures, std::string_view metric) {
  for (const Measurement& each : measures.measurements) {
    if (each.metric != metric) continue;
    if (!each.value) return std::string(word(*each.not_measured));
    if (const auto* integer = std::get_if<std::int64_t>(&*each.value)) return std::to_string(*integer);
    std::string text = std::to_string(std::get<double>(*each.value));
    return text;
  }
  return "no such metric";
}

}  // namespace traceweir::metrics
