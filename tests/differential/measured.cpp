#include "tests/differential/measured.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>  // mkdtemp

#include <algorithm>

#include "analyzer/ingest/ingest.hpp"
#include "analyzer/metrics/rank_view.hpp"
#include "tools/make_trace/gzip.hpp"
#include "tools/make_trace/write_kineto.hpp"
#include "tools/make_trace/write_nsys.hpp"

namespace traceweir::differential {
namespace {

metrics::RankMeasures measures_of(const timeline::Timeline& timeline) {
  const auto view = metrics::view_of(timeline);
  REQUIRE_MESSAGE(view.has_value(), view.error().message);
  return metrics::measure(*view);
}

std::vector<timeline::Timeline> read(const std::filesystem::path& file) {
  auto timelines = ingest::read_trace(file);
  REQUIRE_MESSAGE(timelines.has_value(), timelines.error().message);
  return std::move(*timelines);
}

}  // namespace

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "traceweir-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;  // a folder that stays behind fails no test
  std::filesystem::remove_all(path_, ignored);
}

metrics::RankMeasures measured(const make_trace::Trace& trace, std::size_t index, Format format) {
  const TempFolder folder;
  const auto file = folder.path() / "trace";
  const make_trace::Rank& rank = trace.ranks.at(index);
  if (format == Format::nsys)
    make_trace::write_nsys({trace.job, {rank}}, file);
  else
    make_trace::write_kineto(trace.job, rank, file);
  if (format == Format::kineto_gzip) make_trace::gzip_in_place(file);

  const auto timelines = read(file);
  REQUIRE(timelines.size() == 1);
  return measures_of(timelines.front());
}

std::vector<metrics::RankMeasures> measured_together(const make_trace::Trace& trace) {
  const TempFolder folder;
  const auto file = folder.path() / "trace.sqlite";
  make_trace::write_nsys(trace, file);
  std::vector<metrics::RankMeasures> measures;
  for (const auto& timeline : read(file)) measures.push_back(measures_of(timeline));
  return measures;
}

std::map<std::string, std::string> by_id(const metrics::RankMeasures& measures) {
  std::map<std::string, std::string> values;
  for (const auto& measurement : measures.measurements)
    values[measurement.metric] =
        measurement.value ? std::visit([](auto number) { return fmt::format("{}", number); }, *measurement.value)
                          : std::string(word(*measurement.not_measured));
  return values;
}

double value_of(const metrics::RankMeasures& measures, const std::string& metric) {
  const auto at = std::find_if(measures.measurements.begin(), measures.measurements.end(),
                               [&metric](const auto& measurement) { return measurement.metric == metric; });
  REQUIRE_MESSAGE(at != measures.measurements.end(), metric);
  REQUIRE_MESSAGE(at->value.has_value(), metric);
  return as_double(*at->value);
}

bool needs_sizes(const std::string& metric) {
  return metric.ends_with(".bytes_mean") || metric.ends_with(".busbw") || metric.ends_with(".small_share");
}

}  // namespace traceweir::differential
