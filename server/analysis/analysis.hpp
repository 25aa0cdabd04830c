// For: a Report from an untrusted file, made by a child process that can harm nobody but itself.
// Not for: reading traces (the child's), deciding anything.
//
// The child is `traceweir analyze --json --child [--window W] [--steps G] [--skip N] -- - …`, with no environment, `/`
// as its folder and nothing open but the uploads, its pipes and files without a name to unpack into: it never gets a
// path. It locks itself in before it reads (sandbox/contract.hpp). Its contract:
//   exit 0   stdout is one traceweir.report/1 document; it is read as untrusted text
//   exit 2, 3   stdout is one line {"error":{"code":"malformed_trace","message":"…"}}; the code is a word of error.hpp
//   other    the child died; its last words on stderr go into the message
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"
#include "sandbox/sandbox.hpp"

namespace traceweir::analysis {

class Feed;

/// What one analysis may cost.
struct AnalysisLimits {
  std::chrono::milliseconds analysis_time_max{120'000};  ///< the child's CPU time (in whole seconds), and its wall time
  std::uint64_t analysis_memory_max = std::uint64_t{4} << 30;           ///< address space; 0: no limit (sanitizers)
  std::uint64_t scratch_bytes_max = std::uint64_t{16} << 30;            ///< one unpacked file of the child
  std::uint64_t inflated_bytes_max = std::uint64_t{16} << 30;           ///< of one trace, unpacked
  std::uint64_t inflate_ratio_max = 200;                                ///< unpacked : packed
  std::uint64_t descriptors_max = 64;                                   ///< open files of the child
  std::size_t report_bytes_max = report::report_bytes_max + 64 * 1024;  ///< of stdout
  std::size_t message_bytes_max = 16 * 1024;                            ///< of stderr that is kept
};

/// What the caller asks of one analysis.
struct AnalysisOptions {
  std::optional<std::string> window;  ///< `steps`, `span`, `host_steps`, `START:END`
  std::optional<std::string> steps;   ///< glob
  std::optional<std::int64_t> skip_steps;
};

/// A file to be analysed.
struct InputFile {
  std::filesystem::path path;
  std::string name;    ///< the client's name of the file, for `trace.name`; empty: unknown
  std::string sha256;  ///< for `trace.sha256`; empty: not hashed
};

/// `traceweir` beside the program that runs.
/// Errors: bad_config, when it is not there.
Result<std::filesystem::path> program_beside_us();

/// Runs analyses. Each call of report_of is one child.
/// Thread: report_of blocks; call it from worker threads, several at once. stop() from any thread.
class Analysis {
 public:
  /// `scratch`: the folder in which each child gets a file without a name for what it must unpack. What an earlier
  /// life left there is removed now. Empty: children may write no file.
  Analysis(std::filesystem::path program, AnalysisLimits limits, std::filesystem::path scratch = {});
  Analysis(Analysis&&) noexcept;
  Analysis& operator=(Analysis&&) noexcept;
  /// Kills the children that run. No report_of may still be running when this returns, so join the workers first.
  ~Analysis();

  /// Finds out what a child can lock itself in with, by starting one. From now on no child is believed without that
  /// much. Call it once, before the first analysis; without it nothing is asked for.
  /// Errors: io_failed (the program cannot be started), queue_full (stop()). A program that does not speak of a sandbox
  ///         is no error: nothing is active then.
  Result<sandbox::Parts> demand_sandbox();

  /// From now on children are forked from a process that has started the program already (sandbox/fork_server.hpp),
  /// where they lock themselves in; elsewhere this does nothing. Call it once, after demand_sandbox(), in a thread that
  /// ends with the process. Errors: io_failed (the program cannot be started).
  Result<void> fork_early();

  /// Errors: what the child says of the file (unknown_format, not_a_trace, unsupported_format, malformed_trace,
  ///         trace_too_large, empty_upload, bad_query for a window that the trace does not have); analysis_timeout (CPU
  ///         or wall limit); analysis_failed (crash, out of memory, a report that breaks its contract);
  ///         analysis_interrupted (killed by the system or by somebody); queue_full (stop()); io_failed, disk_full (the
  ///         program cannot be started, it did not lock itself in, our disk: ours to repair).
  /// Shape:  one or more files; several are the ranks of one run, in this order, and analysis_time_max is for each.
  /// Cost:   as the analysis; one process.
  [[nodiscard]] Result<report::Report> report_of(std::span<const InputFile> files,
                                                 const AnalysisOptions& options) const;

  /// The same of an upload that is still arriving: its trace has no name and hash yet (name_traces). The wall time is
  /// counted from its last byte. Errors: as above; queue_full where the feed is abandoned.
  [[nodiscard]] Result<report::Report> report_of(Feed& feed, const AnalysisOptions& options) const;

  /// Kills all children, now and from now on: their report_of returns queue_full (the file is not at
  /// fault).
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Puts names and hashes of the files into a report that was made while they arrived.
void name_traces(report::Report& report, std::span<const InputFile> files);

}  // namespace traceweir::analysis
