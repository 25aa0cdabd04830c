// For: the Report, the one value that crosses a process border (schema traceweir.report/1, schema/report.schema.json).
// It is made from timelines in a child process or on the CI node, and read back by the service as untrusted text.
// Not for: verdicts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/finding.hpp"
#include "analyzer/core/metric.hpp"
#include "analyzer/findings/attribution.hpp"
#include "analyzer/metrics/measure.hpp"

namespace traceweir::report {

inline constexpr std::string_view schema_word = "traceweir.report/1";
/// What a report of so many ranks may take: 1 MiB up to 8 ranks, and 24 KiB for each rank more, which is what its
/// measurements, devices and findings need. report_of cuts the lists (with `rest` rows) to stay below.
constexpr std::size_t report_bytes_for(std::size_t ranks) {
  constexpr std::size_t ranks_in_full = 8, bytes_in_full = std::size_t{1} << 20, bytes_per_rank = std::size_t{24} << 10;
  return bytes_in_full + (ranks > ranks_in_full ? (ranks - ranks_in_full) * bytes_per_rank : 0);
}
/// A run has no more ranks than this.
inline constexpr std::size_t ranks_max = 2048;
/// A rank or a run has no more measurements than this: the catalogue, what traces name, and values of one's own.
inline constexpr std::size_t measurements_max = 1000;
/// A larger text is refused unread.
inline constexpr std::size_t report_bytes_max = report_bytes_for(ranks_max);

/// The file that a rank was read from.
struct TraceFacts {
  std::string format;       ///< `nsys_sqlite`, `kineto_json`
  std::string compression;  ///< `none`, `gzip`, `zstd`
  std::int64_t bytes = 0;
  std::string sha256;    ///< lower-case hex; empty: not hashed
  std::string producer;  ///< empty: unknown
  std::string name;      ///< the file's own name, without folders; empty: unknown
};

/// What decides comparability. Empty: unknown.
struct EnvironmentFacts {
  std::vector<std::string> gpus;  ///< product name per device with work
  std::int64_t gpu_count = 0;     ///< devices with work
  std::string driver, cuda, nccl, framework;
  std::string graph_mode;  ///< `none`, `graph`, `node`, `mixed`
};

/// A device's times with its idle causes. Units: ns.
struct DeviceReport {
  metrics::DeviceTimes times;
  std::map<findings::IdleCause, Nanos> idle_causes;
};

/// One rank.
struct RankReport {
  std::int64_t rank = 0;
  std::int64_t world_size = 0;  ///< 0: the trace does not say
  TraceFacts trace;
  EnvironmentFacts environment;
  std::optional<metrics::Window> window;
  std::vector<DeviceReport> devices;
  std::vector<metrics::Measurement> measurements;
  std::vector<findings::Term> breakdown;
  std::vector<metrics::StepValues> steps;
  std::vector<metrics::KernelRow> kernels;  ///< the last may be `rest`
  std::vector<metrics::CollectiveRow> collectives;
  std::vector<metrics::PhaseRow> phases;
  std::vector<Finding> findings;
};

/// Everything that is known of a run.
struct Report {
  std::string analyzer_version;
  int classifier = 0;
  std::vector<RankReport> ranks;                      ///< by rank
  std::vector<metrics::RunMeasurement> measurements;  ///< of the run
  std::vector<metrics::MatchedRow> collectives;       ///< calls that several ranks have in common; empty: none
  std::vector<Finding> findings;                      ///< of the run (not of one rank)
};

/// One rank, measured and cut to its lists' limits. The timeline that it was measured from is not needed any more.
struct MeasuredRank {
  std::optional<std::int64_t> stated;  ///< the rank that the trace states
  RankReport report;                   ///< without its number, which the run gives
  metrics::RankShare share;
};

/// Measures one rank.
/// Errors: usage (a window that the trace does not have).   Thread: any; ranks may be measured side by side.
Result<MeasuredRank> measure_rank(const timeline::Timeline& timeline, const TraceFacts& facts,
                                  const metrics::MeasureOptions& options = {});

/// Puts the ranks of a run together.
/// Shape:  numbered as they state; those that do not state a rank take the lowest free numbers in order.
/// Errors: usage (two of one rank; more than ranks_max; values of the job's own beside traces).
Result<Report> report_of_ranks(std::vector<MeasuredRank> ranks);

/// Measures timelines and puts them together: the whole analyzer behind the readers.
/// Shape:  ranks numbered as `timeline.rank` says; those that do not say take the lowest free numbers in order.
/// Errors: usage (a window that the trace does not have; two timelines with one rank).
Result<Report> report_of(std::span<const timeline::Timeline> timelines, std::span<const TraceFacts> facts,
                         const metrics::MeasureOptions& options = {});

/// One run of the ranks of reports that were made apart. What needs the calls of several ranks is not measured
/// (`ranks_apart`): reports do not carry every call.
/// Shape:  a rank keeps its number where it is the first to have it; else it takes the lowest free one, in order.
/// Errors: bad_body (no report, or reports of different classifiers, whose numbers mean different things), usage
///         (values of the job's own beside traces).
Result<Report> merged(std::span<const Report> reports);

/// JSON of the report: schema traceweir.report/1, keys in the order of the contract, at most report_bytes_for(ranks).
/// Shape: one line without `indent`, else indented by that many spaces.
std::string to_json(const Report& report, int indent = -1);

/// Reads what to_json writes, as untrusted text: depth, sizes, ranges, words and UTF-8 are checked.
/// Errors: bad_body, naming the key.
Result<Report> from_json(std::string_view text);

/// For a person at a terminal: a table per run, findings with advice, idle causes. `colour`: ANSI colours.
enum class Paint { plain, colour };
std::string to_table(const Report& report, Paint paint);

/// The same as Markdown; names are escaped.
std::string to_markdown(const Report& report);

/// The metrics that this version knows, as values, for rooms that may not include analyzer/metrics.
std::span<const MetricInfo> catalog();
/// The row of a metric, or nullptr.
const MetricInfo* find_metric(std::string_view id);

/// Metrics that a trace names, a row per family (`phase.NAME.share`).
std::span<const MetricInfo> families();
/// The row of a family's member (`phase.forward.share`), or nothing.
std::optional<MetricInfo> family_member(std::string_view id);

}  // namespace traceweir::report
