#include "cli/reading.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/ingest.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "sandbox/contract.hpp"
#include "sandbox/sandbox.hpp"
#include "server/hash/sha256.hpp"

namespace traceweir::cli {
namespace {

std::string name_of(const std::string& file) {
  return clean_text(std::filesystem::path(file).filename().string(), 255);
}

/// Told by its content; a trace never begins like this.
bool is_report(std::string_view head) {
  constexpr std::size_t schema_within = 256;
  head = head.substr(0, schema_within);
  return head.find('{') == head.find_first_not_of(" \t\r\n") && head.find(report::schema_word) != head.npos;
}

/// What a file turned out to be: ranks to measure, or a report that was made elsewhere.
struct MeasuredFile {
  std::vector<timeline::Timeline> ranks;
  report::TraceFacts facts;
  std::optional<report::Report> report;
};

Result<MeasuredFile> read_input(ingest::TraceInput& input, const std::string& name) {
  MeasuredFile file;
  file.facts.name = name;
  if (is_report(input.head())) {
    TRACEWEIR_TRY(text, input.text(report::report_bytes_max + 1));
    TRACEWEIR_TRY(report, report::from_json(text));
    file.report = std::move(report);
    return file;
  }
  TRACEWEIR_TRY(ranks, ingest::read_trace(input));
  file.ranks = std::move(ranks);
  return file;
}

/// `-` is what comes through stdin.
Result<ingest::TraceInput> open_input(const std::string& file) {
  if (file != stdin_word) return ingest::TraceInput::open(file);
  return ingest::TraceInput::of(ingest::File(STDIN_FILENO), std::nullopt);
}

Result<MeasuredFile> read_file(const std::string& file, Hashing hashing) {
  if (hashing == Hashing::sha256 && file == stdin_word)
    return fail(ErrorCode::usage, "--hash reads the file twice, which stdin cannot be");
  TRACEWEIR_TRY(input, open_input(file));
  TRACEWEIR_TRY(read, read_input(input, name_of(file)));
  if (hashing == Hashing::none) return std::move(read);
  TRACEWEIR_TRY(sha256, hash::sha256_of_file(file));
  read.facts.sha256 = sha256;
  return std::move(read);
}

Result<metrics::MeasureOptions> measure_options(const ReadingOptions& options) {
  metrics::MeasureOptions measure;
  measure.steps = options.steps;
  measure.skip_steps = options.skip;
  if (!options.window) return measure;
  return metrics::with_window(measure, *options.window);
}

/// Measures traces together: their ranks' calls are matched.
Result<report::Report> together(std::span<MeasuredFile> files, const metrics::MeasureOptions& measure) {
  std::vector<timeline::Timeline> timelines;
  std::vector<report::TraceFacts> facts;
  for (MeasuredFile& file : files) {
    facts.insert(facts.end(), file.ranks.size(), file.facts);
    std::move(file.ranks.begin(), file.ranks.end(), std::back_inserter(timelines));
  }
  return report::report_of(timelines, facts, measure);
}

/// Files are ranks of one run, in their order. Where one is a report, each is measured by itself.
Result<report::Report> report_of(std::vector<MeasuredFile> files, const ReadingOptions& options) {
  TRACEWEIR_TRY(measure, measure_options(options));
  if (std::none_of(files.begin(), files.end(), [](const MeasuredFile& file) { return file.report.has_value(); }))
    return together(files, measure);
  std::vector<report::Report> reports;
  for (MeasuredFile& file : files) {
    auto report = file.report ? *std::move(file.report) : together(std::span(&file, 1), measure);
    if (!report) return report;
    reports.push_back(*std::move(report));
  }
  return report::merged(reports);
}

/// Where there are several files, an error says which one it is about.
Error about(const std::string& name, std::size_t files, Error error) {
  if (files > 1) error.message = fmt::format("{}: {}", name, error.message);
  return error;
}

/// The files to unpack into, as far as there are any. Asked before the sandbox, which does not let one ask.
std::vector<std::optional<ingest::File>> scratches_of(std::size_t files) {
  std::vector<std::optional<ingest::File>> scratches(files);
  for (std::size_t i = 0; i < files; ++i) {
    const int descriptor = sandbox::scratch_of(static_cast<int>(i));
    if (::fcntl(descriptor, F_GETFD) >= 0) scratches[i].emplace(descriptor);
  }
  return scratches;
}

Result<MeasuredFile> read_descriptors(int i, std::optional<ingest::File> scratch) {
  TRACEWEIR_TRY(input, ingest::TraceInput::of(ingest::File(sandbox::input_of(i)), std::move(scratch)));
  return read_input(input, sandbox::input_name(i));
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
  std::vector<MeasuredFile> measured;
  for (const std::string& file : files) {
    auto read = read_file(file, hashing);
    if (!read) return tl::unexpected(about(name_of(file), files.size(), std::move(read).error()));
    measured.push_back(*std::move(read));
  }
  return report_of(std::move(measured), options);
}

Result<report::Report> analyze_as_child(std::size_t files, const ReadingOptions& options) {
  auto scratches = scratches_of(files);
  ::signal(SIGXFSZ, SIG_IGN);  // the limit on what is unpacked is an answer, not a death
  const sandbox::Parts parts = sandbox::lock_down();
  ingest::File word(sandbox::word_descriptor);
  TRACEWEIR_TRY_VOID(word.write(sandbox::to_line(parts)));
  { const ingest::File said = std::move(word); }
  // From here on the files may say what they want.

  std::vector<MeasuredFile> measured;
  for (std::size_t i = 0; i < files; ++i) {
    auto read = read_descriptors(static_cast<int>(i), std::move(scratches[i]));
    if (!read) return tl::unexpected(about(sandbox::input_name(static_cast<int>(i)), files, std::move(read).error()));
    measured.push_back(*std::move(read));
  }
  return report_of(std::move(measured), options);
}

}  // namespace traceweir::cli
