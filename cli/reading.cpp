#include "cli/reading.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/ingest.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "cli/inputs.hpp"
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
Result<ingest::TraceInput> open_input(const std::string& file, const ingest::ReadLimits& limits) {
  if (file != stdin_word) return ingest::TraceInput::open(file, limits);
  return ingest::TraceInput::of(ingest::File(STDIN_FILENO), std::nullopt, limits);
}

Result<MeasuredFile> read_file(const std::string& file, Hashing hashing, const ReadingOptions& options) {
  if (hashing == Hashing::sha256 && file == stdin_word)
    return fail(ErrorCode::usage, "--hash reads the file twice, which stdin cannot be");
  TRACEWEIR_TRY(readable, ReadableFile::of(file, options.exporting()));
  TRACEWEIR_TRY(input, open_input(readable.path().string(), options.limits));
  TRACEWEIR_TRY(read, read_input(input, name_of(file)));
  read.path = file;
  if (hashing == Hashing::none) return std::move(read);
  TRACEWEIR_TRY(sha256, hash::sha256_of_file(file));
  read.facts.sha256 = sha256;
  return std::move(read);
}

bool is_no_trace(ErrorCode code) {
  return code == ErrorCode::unknown_format || code == ErrorCode::not_a_trace || code == ErrorCode::empty_upload;
}

Result<metrics::MeasureOptions> measure_options(const ReadingOptions& options) {
  metrics::MeasureOptions measure;
  measure.steps = options.steps;
  measure.skip_steps = options.skip;
  if (!options.window) return measure;
  return metrics::with_window(measure, *options.window);
}

/// Measures the ranks of a file that need no other file, and lets go of their rows.
Result<void> measure_rows(MeasuredFile& file, const metrics::MeasureOptions& options) {
  const bool joins = std::any_of(file.ranks.begin(), file.ranks.end(), [](const auto& rank) { return rank.sums; });
  if (joins) return {};
  for (const timeline::Timeline& timeline : file.ranks) {
    TRACEWEIR_TRY(rank, report::measure_rank(timeline, file.facts, options));
    file.measured.push_back(std::move(rank));
  }
  file.ranks.clear();
  return {};
}

/// Children of the service share the cores with each other and with it, and each has a bounded address space.
constexpr std::size_t child_threads_max = 2;

std::size_t cores() { return std::max(1U, std::thread::hardware_concurrency()); }

/// Calls `work(i)` for every i below `count` until one says false, on as many threads as there are cores. They take the
/// numbers in order, so that everything before the first failure was done. Memory follows the cores, not the count.
void side_by_side(std::size_t count, const std::function<bool(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto take = [&] {
    for (std::size_t i = next++; i < count && !failed; i = next++)
      if (!work(i)) failed = true;
  };
  const std::size_t threads = std::min(count, cores());
  std::vector<std::future<void>> helpers;
  for (std::size_t i = 1; i < threads; ++i) helpers.push_back(std::async(std::launch::async, take));
  take();
  for (std::future<void>& helper : helpers) helper.get();
}

/// Measures what is not measured yet and puts the ranks together: their calls are matched.
Result<report::Report> together(std::span<MeasuredFile> files, const metrics::MeasureOptions& options) {
  std::vector<report::MeasuredRank> ranks;
  for (MeasuredFile& file : files) {
    std::move(file.measured.begin(), file.measured.end(), std::back_inserter(ranks));
    for (const timeline::Timeline& timeline : file.ranks) {
      TRACEWEIR_TRY(rank, report::measure_rank(timeline, file.facts, options));
      ranks.push_back(std::move(rank));
    }
  }
  return report::report_of_ranks(std::move(ranks));
}

/// Files that are read side by side share the cores.
ReadingOptions shared_by(std::size_t files, ReadingOptions options) {
  if (options.limits.threads == 0 && files > 1) options.limits.threads = std::max<std::size_t>(1, cores() / files);
  return options;
}

/// A file as far as it can be measured alone; nothing where a folder holds something that is no trace.
Result<std::optional<MeasuredFile>> measured_file(const FoundFile& file, const ReadingOptions& options,
                                                  const metrics::MeasureOptions& measure, Hashing hashing) {
  auto read = read_file(file.path, hashing, options);
  const bool passed_over = !read && file.how == FoundFile::How::in_folder && is_no_trace(read.error().code);
  if (passed_over) return std::optional<MeasuredFile>();
  if (!read) return tl::unexpected(std::move(read).error());
  TRACEWEIR_TRY_VOID(measure_rows(*read, measure));
  return std::optional(*std::move(read));
}

/// Files are ranks of one run, in their order. Where one is a report, each is measured by itself.
Result<report::Report> report_of(std::vector<MeasuredFile> files, const metrics::MeasureOptions& options) {
  if (files.size() == 1 && files.front().report) return *std::move(files.front().report);
  if (std::none_of(files.begin(), files.end(), [](const MeasuredFile& file) { return file.report.has_value(); }))
    return together(files, options);
  std::vector<report::Report> reports;
  for (MeasuredFile& file : files) {
    auto report = file.report ? *std::move(file.report) : together(std::span(&file, 1), options);
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

Result<MeasuredFile> read_descriptors(int i, std::optional<ingest::File> scratch, const ingest::ReadLimits& limits) {
  TRACEWEIR_TRY(input, ingest::TraceInput::of(ingest::File(sandbox::input_of(i)), std::move(scratch), limits));
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
  app.add_option("--inflated-bytes-max", options.limits.inflated_bytes_max, "bytes that a trace may have unpacked")
      ->type_name("BYTES")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--inflate-ratio-max", options.limits.inflate_ratio_max, "unpacked bytes per packed one")
      ->type_name("RATIO")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  app.add_option("--threads", options.limits.threads,
                 "threads that read one trace; the result is the same (default: as many as there are cores, up to 8)")
      ->type_name("N")
      ->check(CLI::Range(1, 64))
      ->envname("TRACEWEIR_THREADS");
  app.add_option("--nsys", options.nsys,
                 "the nsys that exports binary reports (.nsys-rep, .qdrep); off: none (default: that of PATH)")
      ->type_name("PATH")
      ->envname("TRACEWEIR_NSYS");
  app.add_option("--nsys-time-max", options.nsys_seconds, "seconds that an export may take")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
}

Result<report::Report> analyze_files(const std::vector<std::string>& files, const ReadingOptions& options,
                                     Hashing hashing) {
  TRACEWEIR_TRY(found, files_of(files));
  TRACEWEIR_TRY(measure, measure_options(options));
  const ReadingOptions each = shared_by(found.size(), options);
  std::vector<Result<std::optional<MeasuredFile>>> read(found.size());
  side_by_side(found.size(), [&](std::size_t i) {
    read[i] = measured_file(found[i], each, measure, hashing);
    return read[i].has_value();
  });
  std::vector<MeasuredFile> measured;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!read[i]) return tl::unexpected(about(name_of(found[i].path), found.size(), std::move(read[i]).error()));
    if (*read[i]) measured.push_back(**std::move(read[i]));
  }
  if (measured.empty()) return fail(ErrorCode::usage, "there is no trace in the folder");
  TRACEWEIR_TRY_VOID(join_tables(measured));
  return report_of(std::move(measured), measure);
}

Result<report::Report> analyze_as_child(std::size_t files, const ReadingOptions& options, const sandbox::Lock& lock) {
  auto scratches = scratches_of(files);
  ::signal(SIGXFSZ, SIG_IGN);  // the limit on what is unpacked is an answer, not a death
  const sandbox::Parts parts = lock.turn();
  ingest::File word(sandbox::word_descriptor);
  TRACEWEIR_TRY_VOID(word.write(sandbox::to_line(parts)));
  { const ingest::File said = std::move(word); }
  // From here on the files may say what they want.

  TRACEWEIR_TRY(measure, measure_options(options));
  ingest::ReadLimits limits = options.limits;
  if (limits.threads == 0) limits.threads = std::min(cores(), child_threads_max);
  std::vector<MeasuredFile> measured;
  for (std::size_t i = 0; i < files; ++i) {
    auto read = read_descriptors(static_cast<int>(i), std::move(scratches[i]), limits);
    if (!read) return tl::unexpected(about(sandbox::input_name(static_cast<int>(i)), files, std::move(read).error()));
    TRACEWEIR_TRY_VOID(measure_rows(*read, measure));
    measured.push_back(*std::move(read));
  }
  return report_of(std::move(measured), measure);
}

}  // namespace traceweir::cli
