// For: the numbers of one rank, and of a run made of several. One Timeline in, values out.
// Not for: advice or causes (findings room), JSON (report room).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/metric.hpp"
#include "analyzer/core/time.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::metrics {

/// Over which span ratios are taken. Source: spec of metrics, section 2. Runs of different kinds are not comparable.
enum class WindowKind { steps, span, host_steps, range };
std::string_view word(WindowKind kind);  // "range" is spelt START:END on the command line
std::optional<WindowKind> window_kind_of(std::string_view word);

/// What the caller asks of the window. Everything empty: the rule of the spec.
struct MeasureOptions {
  std::optional<WindowKind> window;
  Interval range{};                        ///< for WindowKind::range: offsets from the first GPU work
  std::optional<std::string> steps;        ///< glob that replaces the step pattern
  std::optional<std::int64_t> skip_steps;  ///< steps left out at the front
};

/// `steps`, `span`, `host_steps` or `START:END` in ns. Errors: usage, naming what was expected.
Result<MeasureOptions> with_window(MeasureOptions options, std::string_view text);

/// The window of one rank. Units: ns on the trace's clock. Never empty.
struct Window {
  WindowKind kind;
  Interval span;
  std::optional<std::int64_t> steps;  ///< whole periods inside; a `span` or `range` window has no step count
  std::int64_t skipped_steps = 0;
};

/// One value, or the reason why there is none. Exactly one of the two is set.
struct Measurement {
  std::string metric;
  std::optional<Number> value;
  Unit unit;
  Better better;
  std::optional<NotMeasured> not_measured;
};

/// The same in the units that we measure in (1.5 s is 1,500,000,000 ns): what gates and series compare, so that a job
/// may change from ms to s. Units without such a base stay.
Measurement in_base_unit(Measurement measurement);

/// How a device spent the window. Units: ns. The five add up to the window's length, exactly.
struct DeviceTimes {
  std::int64_t device;  ///< ordinal
  std::string gpu;
  Nanos compute, graph, exposed_comm, exposed_memory, idle;
};

/// One kept step. Units: ns. `length`: from its first GPU work to that of the next step that has any.
struct StepValues {
  std::int64_t index;
  std::string name;
  Nanos length;
  std::map<std::string, double> values;  ///< of the built-in gated metrics that make sense in one step
};
inline constexpr std::size_t step_values_max = 200;

/// A kernel name's share of the window. Rows by total, descending; calls that start in the window, uncut.
struct KernelRow {
  std::string name;
  timeline::WorkKind kind;
  std::int64_t count;
  Nanos total;
  double share;  ///< of the window × devices
};

/// Collectives of one kind, size and group size. bytes 0: unknown.
struct CollectiveRow {
  timeline::Collective kind;
  std::int64_t bytes;
  std::int64_t count;
  Nanos total, min, max;
  std::int64_t group_size;
  std::string dtype;
};

/// What matched calls of one kind and message size took, over the ranks of a run. bytes 0: unknown.
struct MatchedRow {
  timeline::Collective kind;
  std::int64_t bytes;
  std::int64_t matched;  ///< calls that all their ranks have
  Nanos transfer;        ///< sum over them of the minimum over the ranks
  std::int64_t calls;    ///< each rank's own part in them
  Nanos total;           ///< sum of the durations of those
};

/// A user's phase inside steps. `gpu`: duration of the work that it launched (union over devices).
struct PhaseRow {
  std::string name;
  std::int64_t count;
  Nanos host, gpu;
};

/// Everything measured of one rank. Without GPU work: no window, every metric `no_gpu_work`.
struct RankMeasures {
  std::optional<Window> window;
  std::vector<DeviceTimes> devices;       ///< those with work inside the window
  std::vector<Measurement> measurements;  ///< the catalogue's that are one rank's, in its order; then the named ones
  std::vector<StepValues> steps;
  std::vector<KernelRow> kernels;
  std::vector<CollectiveRow> collectives;
  std::vector<PhaseRow> phases;
};

/// A metric over the ranks of a run: mean, and the extremes with their ranks.
struct RunMeasurement {
  Measurement mean;
  double min = 0, max = 0;
  std::int64_t min_rank = 0, max_rank = 0;
};

/// What one rank gives to its run: its number, window kind and values, and its communication calls for matching.
/// A thousand ranks are held at once, so a call is small.
struct CommCall {
  timeline::Collective kind;
  bool in_window = false;
  std::uint32_t group = 0;  ///< index in RankShare::groups
  std::int64_t bytes = 0;   ///< message size; 0: unknown
  std::optional<std::int64_t> sequence;
  Nanos duration{};
  Nanos compute_before{};  ///< compute on its device since the call before it ended, inside the window
};
struct RankShare {
  std::int64_t rank = 0;
  std::optional<Window> window;
  std::vector<Measurement> measurements;
  std::vector<std::string> groups;  ///< names of process groups; empty: unknown
  std::vector<CommCall> calls;      ///< all of the trace, in order of begin
  bool calls_known = true;          ///< false: the rank comes from a report, which does not carry its calls
};

/// The run's value of every metric: means over ranks, and the metrics that need several ranks
/// (`K.transfer_mean`, `K.wait_share`, `K.matched_calls`, `rank.*_skew`; `single_rank` where there is one,
/// `ranks_apart` where calls would have to be matched that are not known).
/// Source: spec of metrics, sections 4 and 6.   Cost: O(calls log calls).
std::vector<RunMeasurement> measure_run(std::span<const RankShare> ranks);

/// The catalogue: every metric that this version knows, in the order in which reports list them.
std::span<const MetricInfo> catalog();

}  // namespace traceweir::metrics
