#include "cli/reading.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <memory>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/ingest.hpp"
#include "cli/sha256.hpp"

namespace traceweir::cli {
namespace {

std::string name_of(const std::string& file) {
  return clean_text(std::filesystem::path(file).filename().string(), 255);
}

/// A report that was made elsewhere. Told by its content; a trace never begins like this.
std::optional<std::string> report_text_in(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head(256, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  if (head.find('{') != head.find_first_not_of(" \t\r\n") || head.find(report::schema_word) == std::string::npos)
    return std::nullopt;
  in.clear();
  in.seekg(0);
  std::string text(report::report_bytes_max + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

Result<metrics::MeasureOptions> measure_options(const ReadingOptions& options) {
  metrics::MeasureOptions measure;
  measure.steps = options.steps;
  measure.skip_steps = options.skip;
  if (!options.window) return measure;
  return metrics::with_window(measure, *options.window);
}

}  // namespace

void add_reading_options(CLI::App& app, ReadingOptions& options) {
  app.add_option("--window", options.window, "steps, span, host_steps or START:END in ns (default: steps where marked)")
      ->type_name("KIND");
  app.add_option("--steps", options.steps, "glob of the step ranges, where they are not ProfilerStep#N")
      ->type_name("GLOB");
  app.add_option("--skip", options.skip, "steps left out at the front (default: 1 where more than 3 are marked)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
}

Result<report::Report> analyze_files(const std::vector<std::string>& files, const ReadingOptions& options,
                                     Hashing hashing) {
  if (files.size() == 1)
    if (const auto text = report_text_in(files.front())) return report::from_json(*text);
  TRACEWEIR_TRY(measure, measure_options(options));
  std::vector<timeline::Timeline> timelines;
  std::vector<report::TraceFacts> facts;
  for (const std::string& file : files) {
    auto ranks = ingest::read_trace(file);
    if (!ranks && files.size() > 1)
      return fail(ranks.error().code, fmt::format("{}: {}", name_of(file), ranks.error().message));
    if (!ranks) return tl::unexpected(std::move(ranks).error());
    report::TraceFacts fact;
    fact.name = name_of(file);
    if (hashing == Hashing::sha256) {
      TRACEWEIR_TRY(hash, sha256_of_file(file));
      fact.sha256 = hash;
    }
    facts.insert(facts.end(), ranks->size(), fact);
    std::move(ranks->begin(), ranks->end(), std::back_inserter(timelines));
  }
  return report::report_of(timelines, facts, measure);
}

}  // namespace traceweir::cli
