#include "server/analysis/analysis.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "sandbox/contract.hpp"
#include "server/analysis/child.hpp"
#include "server/analysis/feed.hpp"
#include "server/analysis/spawn.hpp"

namespace traceweir::analysis {
namespace {

namespace fs = std::filesystem;

constexpr int usage_exit_code = 2;  // a window that the trace does not have
constexpr int refused_exit_code = 3;
constexpr std::size_t error_line_bytes_max = 8 * 1024;
constexpr std::size_t last_words_bytes_max = 300;
constexpr std::chrono::seconds probe_time_max{5};

/// What the child may say of a file. Another word from it is no more than a breach of its contract.
constexpr std::array<ErrorCode, 11> refusals = {ErrorCode::unknown_format, ErrorCode::not_a_trace,
                                                ErrorCode::unsupported_format, ErrorCode::malformed_trace,
                                                ErrorCode::trace_too_large, ErrorCode::empty_upload,
                                                ErrorCode::unsupported_encoding, ErrorCode::bad_body, ErrorCode::usage,
                                                // What is not the file's fault: our disk.
                                                ErrorCode::io_failed, ErrorCode::disk_full};

std::vector<std::string> command_for(const fs::path& program, const AnalysisLimits& limits, std::size_t files,
                                     const AnalysisOptions& options) {
  std::vector<std::string> words = {program.string(), "analyze", "--json", "--child"};
  // As one word with its option, so that a value that begins with a dash stays a value.
  if (options.window) words.push_back("--window=" + *options.window);
  if (options.steps) words.push_back("--steps=" + *options.steps);
  if (options.skip_steps) words.push_back("--skip=" + std::to_string(*options.skip_steps));
  words.push_back("--inflated-bytes-max=" + std::to_string(limits.inflated_bytes_max));
  words.push_back("--inflate-ratio-max=" + std::to_string(limits.inflate_ratio_max));
  words.emplace_back("--");
  words.insert(words.end(), files, "-");
  return words;
}

/// The last line that says something, for the message.
std::string last_words(std::string_view err) {
  const std::size_t end = err.find_last_not_of(" \r\n\t");
  if (end == std::string_view::npos) return "";
  err = err.substr(0, end + 1);
  const std::size_t begin = err.find_last_of('\n');
  return "; it said: " + clean_text(err.substr(begin == std::string_view::npos ? 0 : begin + 1), last_words_bytes_max);
}

tl::unexpected<Error> died(const std::string& how, const ChildEnd& end) {
  return fail(ErrorCode::analysis_failed, "the analysing process " + how + last_words(end.err));
}

tl::unexpected<Error> too_long(const AnalysisLimits& limits) {
  return fail(ErrorCode::analysis_timeout, "the analysis took longer than analysis_time_max = " +
                                               std::to_string(limits.analysis_time_max.count()) + " ms");
}

/// The child does not know what a file is called; where it says which one of several is wrong, the client gets its
/// name.
std::string with_their_names(std::string message, std::span<const InputFile> files) {
  if (files.size() < 2) return message;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string ours = sandbox::input_name(static_cast<int>(i)) + ": ";
    if (message.starts_with(ours)) return clean_text(files[i].name) + ": " + message.substr(ours.size());
  }
  return message;
}

/// Shape: {"error": {"code": "malformed_trace", "message": "…"}}, one line.
Error refusal_of(const ChildEnd& end, std::span<const InputFile> files) {
  const Error breach{ErrorCode::analysis_failed,
                     "the analysing process refused the file without saying why" + last_words(end.err)};
  if (end.out.size() > error_line_bytes_max) return breach;
  const auto json = nlohmann::json::parse(end.out, nullptr, false);
  if (!json.is_object() || !json.contains("error") || !json["error"].is_object()) return breach;
  const auto code = json["error"].find("code");
  const auto message = json["error"].find("message");
  if (code == json["error"].end() || !code->is_string() || message == json["error"].end() || !message->is_string())
    return breach;
  const auto& text = code->get_ref<const std::string&>();
  const auto known = std::find_if(refusals.begin(), refusals.end(), [&](ErrorCode row) { return word(row) == text; });
  if (known == refusals.end()) return breach;
  // What is a wrong command line for the child was a wrong query of our client's: window, steps, skip.
  const ErrorCode meant = *known == ErrorCode::usage ? ErrorCode::bad_query : *known;
  return {meant, clean_text(with_their_names(message->get<std::string>(), files), 2 * name_bytes_max)};
}

struct SignalWord {
  int number;
  const char* how;
};
constexpr std::array<SignalWord, 5> signal_words = {{
    {SIGSEGV, "crashed (SIGSEGV)"},
    {SIGABRT, "crashed (SIGABRT)"},
    {SIGBUS, "crashed (SIGBUS)"},
    {SIGXFSZ, "tried to write a file (SIGXFSZ)"},
    {SIGSYS, "tried a forbidden system call (SIGSYS)"},
}};

tl::unexpected<Error> killed_by(const ChildEnd& end, const AnalysisLimits& limits) {
  if (end.code == SIGXCPU) return too_long(limits);
  // Nothing in a file sends this one: the system did, for want of memory, or somebody.
  if (end.code == SIGKILL)
    return fail(ErrorCode::analysis_interrupted,
                "the analysing process was killed by the system, probably for want of memory" + last_words(end.err));
  for (const SignalWord& row : signal_words)
    if (row.number == end.code) return died(row.how, end);
  return died("was killed by signal " + std::to_string(end.code), end);
}

bool is_out_of_memory(const ChildEnd& end) {
  return end.err.find("bad_alloc") != std::string::npos || end.err.find("out of memory") != std::string::npos;
}

/// The file that a rank was read from; nothing where the rank's report names a trace of its own.
const InputFile* file_of(const report::RankReport& rank, std::span<const InputFile> files) {
  for (std::size_t i = 0; i < files.size(); ++i)
    if (rank.trace.name == sandbox::input_name(static_cast<int>(i))) return &files[i];
  return nullptr;
}

Result<report::Report> report_from(const ChildEnd& end) {
  Result<report::Report> report = report::from_json(end.out);
  if (!report) return died("gave a report that breaks its contract: " + report.error().message, end);
  return report;
}

Result<report::Report> outcome_of(const ChildEnd& end, std::span<const InputFile> files, const AnalysisLimits& limits) {
  using How = ChildEnd::How;
  if (end.how == How::timed_out) return too_long(limits);
  if (end.how == How::stopped) return fail(ErrorCode::queue_full, "the service is stopping");
  if (end.how == How::abandoned) return fail(ErrorCode::queue_full, "the upload was given up while it arrived");
  if (end.how == How::unguarded)
    return fail(ErrorCode::io_failed,
                "the analysing process did not lock itself in before it read the upload" + last_words(end.err));
  if (end.how == How::too_talkative)
    return died("wrote more than " + std::to_string(limits.report_bytes_max) + " bytes of report", end);
  if (end.how == How::exited && end.code == 0) return report_from(end);
  if (end.how == How::exited && (end.code == refused_exit_code || end.code == usage_exit_code))
    return tl::unexpected(refusal_of(end, files));
  if (is_out_of_memory(end))
    return died("ran out of memory; analysis_memory_max is " + std::to_string(limits.analysis_memory_max) + " bytes",
                end);
  if (end.how == How::exited) return died("ended with exit code " + std::to_string(end.code), end);
  return killed_by(end, limits);
}

Error system_failure(const std::string& doing) {
  const int number = errno;
  const bool full = number == ENOSPC || number == EDQUOT;
  return {full ? ErrorCode::disk_full : ErrorCode::io_failed, doing + ": " + std::generic_category().message(number)};
}

/// A file without a name for what one child unpacks: it goes with its last descriptor, however anybody ends.
/// Errors: io_failed, disk_full.
Result<Descriptor> scratch_in(const fs::path& folder) {
  constexpr mode_t mine = 0600;
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mine));
  if (file.get() >= 0) return file;
  // File systems without such files take one that loses its name at once.
  std::string name = (folder / "scratch-XXXXXX").string();
  Descriptor named(::mkostemp(name.data(), O_CLOEXEC));
  if (named.get() < 0) return tl::unexpected(system_failure("making a file for the analysis"));
  ::unlink(name.c_str());
  return named;
}

/// Errors: io_failed.
Result<Descriptor> open_upload(const fs::path& file) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (opened.get() < 0) return tl::unexpected(system_failure("opening the upload"));
  return opened;
}

bool holds_nul(const std::optional<std::string>& text) { return text && text->find('\0') != std::string::npos; }

}  // namespace

struct Analysis::Impl {
  fs::path program;
  AnalysisLimits limits;
  fs::path scratch;
  sandbox::Parts demanded;
  Children children;

  /// Each trace is open, or it is one that a feed brings.
  Result<ChildEnd> run(const AnalysisOptions& options, std::span<const int> inputs, Feed* feed = nullptr);
};

Result<fs::path> program_beside_us() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path() / "traceweir";
  if (!error && ::access(program.c_str(), X_OK) == 0) return program;
  return fail(ErrorCode::bad_config, "the analyzer " + program.string() + " is not there, or cannot be run");
}

Analysis::Analysis(fs::path program, AnalysisLimits limits, fs::path scratch) : impl_(std::make_unique<Impl>()) {
  impl_->program = fs::absolute(program);
  impl_->limits = limits;
  if (scratch.empty()) return;
  impl_->scratch = fs::absolute(scratch);
  std::error_code ignored;  // a folder that is not there shows at the first analysis, with its reason
  fs::create_directories(impl_->scratch, ignored);
  fs::permissions(impl_->scratch, fs::perms::owner_all, ignored);
  // The folder may be another process's, too. What has a name in it is nobody's, or loses it in this moment.
  for (const auto& left : fs::directory_iterator(impl_->scratch, ignored)) fs::remove(left.path(), ignored);
}

Analysis::Analysis(Analysis&&) noexcept = default;
Analysis& Analysis::operator=(Analysis&&) noexcept = default;

Analysis::~Analysis() {
  if (impl_) stop();
}

void Analysis::stop() { impl_->children.stop(); }

Result<ChildEnd> Analysis::Impl::run(const AnalysisOptions& options, std::span<const int> inputs, Feed* feed) {
  if (holds_nul(options.window) || holds_nul(options.steps))
    return fail(ErrorCode::bad_query, "window, steps: a NUL is no part of them");
  std::vector<Descriptor> unpacked(inputs.size());
  std::vector<ChildFiles> files;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!scratch.empty()) {
      TRACEWEIR_TRY(made, scratch_in(scratch));
      unpacked[i] = std::move(made);
    }
    files.push_back({inputs[i], unpacked[i].get(), feed});
  }
  const ChildLimits child{limits.analysis_time_max * inputs.size(),
                          limits.analysis_memory_max,
                          limits.descriptors_max + 2 * (inputs.size() - 1),
                          limits.report_bytes_max,
                          limits.message_bytes_max,
                          scratch.empty() ? 0 : limits.scratch_bytes_max,
                          demanded};
  return children.run(command_for(program, limits, inputs.size(), options), child, files);
}

Result<sandbox::Parts> Analysis::demand_sandbox() {
  TRACEWEIR_TRY(nothing, make_pipe());
  nothing.write.close();
  const AnalysisLimits limits = std::exchange(impl_->limits, AnalysisLimits{});
  impl_->limits.analysis_time_max = probe_time_max;
  impl_->limits.analysis_memory_max = limits.analysis_memory_max;
  const std::array inputs = {nothing.read.get()};
  const auto end = impl_->run({}, inputs);
  impl_->limits = limits;
  if (!end) return tl::unexpected(end.error());
  impl_->demanded = end->sandbox.value_or(sandbox::Parts{});
  return impl_->demanded;
}

Result<void> Analysis::fork_early() {
  return impl_->demanded.seccomp ? impl_->children.fork_early(impl_->program.string()) : Result<void>();
}

Result<report::Report> Analysis::report_of(std::span<const InputFile> files, const AnalysisOptions& options) const {
  TRACEWEIR_ASSERT(!files.empty());
  std::vector<Descriptor> uploads;
  std::vector<int> inputs;
  for (const InputFile& file : files) {
    TRACEWEIR_TRY(upload, open_upload(file.path));
    inputs.push_back(upload.get());
    uploads.push_back(std::move(upload));
  }
  TRACEWEIR_TRY(end, impl_->run(options, inputs));
  TRACEWEIR_TRY(report, outcome_of(end, files, impl_->limits));
  name_traces(report, files);
  return std::move(report);
}

Result<report::Report> Analysis::report_of(Feed& feed, const AnalysisOptions& options) const {
  constexpr int brought = -1;
  const InputFile unnamed;
  TRACEWEIR_TRY(end, impl_->run(options, std::span(&brought, 1), &feed));
  return outcome_of(end, std::span(&unnamed, 1), impl_->limits);
}

void name_traces(report::Report& report, std::span<const InputFile> files) {
  for (report::RankReport& rank : report.ranks) {
    // The child saw a file without a name; the client's name and the hash that we took are what the reader wants. A
    // report that was made elsewhere names its own traces: those stay.
    const InputFile* file = file_of(rank, files);
    if (file == nullptr) continue;
    rank.trace.name = clean_text(fs::path(file->name).filename().string());
    rank.trace.sha256 = file->sha256;
  }
}

}  // namespace traceweir::analysis
