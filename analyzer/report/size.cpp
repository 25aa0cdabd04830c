#include "analyzer/report/size.hpp"

#include <numeric>
#include <string>
#include <string_view>

namespace traceweir::report {
namespace {

/// What any row takes beside the texts that a trace names: keys, words of ours, numbers.
constexpr std::size_t row_bytes = 512;
constexpr std::size_t value_bytes = 64;  ///< a key with a number
/// A control character is six bytes (`\u001f`).
constexpr std::size_t bytes_per_byte = 6;

std::size_t bytes_of(std::string_view text) { return bytes_per_byte * text.size(); }

std::size_t bytes_of(const metrics::Measurement& row) { return row_bytes + bytes_of(row.metric); }
std::size_t bytes_of(const metrics::RunMeasurement& row) { return bytes_of(row.mean); }
std::size_t bytes_of(const metrics::KernelRow& row) { return row_bytes + bytes_of(row.name); }
std::size_t bytes_of(const metrics::PhaseRow& row) { return row_bytes + bytes_of(row.name); }
std::size_t bytes_of(const metrics::CollectiveRow& row) { return row_bytes + bytes_of(row.dtype); }
std::size_t bytes_of(const metrics::MatchedRow&) { return row_bytes; }
std::size_t bytes_of(const findings::Term& row) { return row_bytes + bytes_of(row.name); }
std::size_t bytes_of(const DeviceReport& row) {
  return row_bytes + bytes_of(row.times.gpu) + value_bytes * row.idle_causes.size();
}

std::size_t bytes_of(const metrics::StepValues& row) {
  std::size_t bytes = row_bytes + bytes_of(row.name);
  for (const auto& [metric, value] : row.values) bytes += value_bytes + bytes_of(metric);
  return bytes;
}

std::size_t bytes_of(const Finding& row) {
  std::size_t bytes = row_bytes + bytes_of(row.advice);
  for (const auto& [key, value] : row.evidence) {
    bytes += value_bytes + bytes_of(key);
    if (const auto* text = std::get_if<std::string>(&value)) bytes += bytes_of(*text);
  }
  return bytes;
}

template <typename Rows>
std::size_t sum_of(const Rows& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::size_t{0},
                         [](std::size_t sum, const auto& row) { return sum + bytes_of(row); });
}

std::size_t bytes_of(const TraceFacts& trace) {
  return row_bytes + bytes_of(trace.format) + bytes_of(trace.compression) + bytes_of(trace.sha256) +
         bytes_of(trace.producer) + bytes_of(trace.name);
}

std::size_t bytes_of(const EnvironmentFacts& environment) {
  std::size_t bytes = row_bytes + bytes_of(environment.driver) + bytes_of(environment.cuda) +
                      bytes_of(environment.nccl) + bytes_of(environment.framework) + bytes_of(environment.graph_mode);
  for (const std::string& gpu : environment.gpus) bytes += value_bytes + bytes_of(gpu);
  return bytes;
}

std::size_t bytes_of(const RankReport& rank) {
  return row_bytes + bytes_of(rank.trace) + bytes_of(rank.environment) + sum_of(rank.devices) +
         sum_of(rank.measurements) + sum_of(rank.breakdown) + sum_of(rank.steps) + sum_of(rank.kernels) +
         sum_of(rank.collectives) + sum_of(rank.phases) + sum_of(rank.findings);
}

}  // namespace

std::size_t json_bytes_at_most(const Report& report) {
  std::size_t bytes = row_bytes + bytes_of(report.analyzer_version) + sum_of(report.measurements) +
                      sum_of(report.collectives) + sum_of(report.findings);
  for (const RankReport& rank : report.ranks) bytes += bytes_of(rank);
  return bytes;
}

}  // namespace traceweir::report
