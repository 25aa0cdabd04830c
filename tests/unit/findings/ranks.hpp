// For: small ranks made by hand, for the tests of findings. Times are plain numbers of nanoseconds.
// Not for: what readers and the builder do with odd rows; those have their own tests.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/findings/attribution.hpp"
#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/timeline/builder.hpp"

namespace traceweir::findings::test {

inline Interval ns(std::int64_t begin, std::int64_t end) { return {Nanos{begin}, Nanos{end}}; }

/// Writes a rank row by row. Device 0, stream 7 and thread 1 where nothing else is said.
class Rank {
 public:
  Rank() { builder.has_host_calls = true; }

  /// A kernel; `launch` is the span of its launching call on `thread`, or empty for none.
  Rank& kernel(Interval span, Interval launch = {}, std::int64_t thread = 1, std::string_view name = "gemm") {
    return work({.span = span, .name = builder.name(name)}, launch, thread);
  }

  Rank& work(timeline::WorkRow row, Interval launch = {}, std::int64_t thread = 1) {
    row.device = builder.device(device);
    if (row.stream == 0) row.stream = 7;
    if (!launch.empty()) {
      row.correlation = ++correlation_;
      builder.add(timeline::CallRow{launch, thread, row.correlation, "cudaLaunchKernel"});
    }
    builder.add(row);
    return *this;
  }

  Rank& call(std::string_view api, Interval span, std::int64_t thread = 1) {
    builder.add(timeline::CallRow{span, thread, 0, api});
    return *this;
  }

  Rank& range(std::string_view name, Interval span, std::int64_t thread = 1) {
    builder.add(timeline::RangeRow{span, thread, builder.range_name(name), timeline::RangeKind::user});
    return *this;
  }

  timeline::Timeline done() { return std::move(builder).finish(); }

  timeline::TimelineBuilder builder;
  std::int64_t device = 0;

 private:
  std::int64_t correlation_ = 0;
};

inline metrics::RankView span_view(const timeline::Timeline& timeline) {
  metrics::MeasureOptions options;
  options.window = metrics::WindowKind::span;
  auto view = metrics::view_of(timeline, options);
  REQUIRE(view.has_value());
  return *std::move(view);
}

/// The view of a window given by offsets from the first work.
inline metrics::RankView range_view(const timeline::Timeline& timeline, Interval range) {
  metrics::MeasureOptions options;
  options.window = metrics::WindowKind::range;
  options.range = range;
  auto view = metrics::view_of(timeline, options);
  REQUIRE(view.has_value());
  return *std::move(view);
}

/// The length of the first term of this kind, name and cause; 0 where there is none.
inline std::int64_t term(const Attribution& attribution, TermKind kind, std::string_view name = {},
                         IdleCause cause = IdleCause::unknown) {
  for (const Term& row : attribution.breakdown)
    if (row.kind == kind && row.name == name && row.cause == cause) return row.length.count();
  return 0;
}

}  // namespace traceweir::findings::test
