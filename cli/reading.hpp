// For: options about how traces are read, and reading them here. Shared by analyze and gate.
// Not for: printing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/ingest.hpp"
#include "analyzer/report/report.hpp"
#include "cli/nsys_export.hpp"
#include "sandbox/sandbox.hpp"

namespace CLI {
class App;
}

namespace traceweir::cli {

struct ReadingOptions {
  std::optional<std::string> window, steps;
  std::optional<std::int64_t> skip;
  std::string nsys;
  std::int64_t nsys_seconds = 600;
  ingest::ReadLimits limits;

  [[nodiscard]] ExportOptions exporting() const { return {nsys, std::chrono::seconds(nsys_seconds)}; }
};

/// --window, --steps, --skip, --nsys, --nsys-time-max, --inflated-bytes-max, --inflate-ratio-max.
void add_reading_options(CLI::App& app, ReadingOptions& options);

/// Whether files are hashed: costs as much as the analysis.
enum class Hashing { none, sha256 };

/// As the name of a file: what comes through stdin.
inline constexpr const char* stdin_word = "-";

/// Measures files here; several files are ranks of one run, a folder stands for the files in it. A file may be a
/// traceweir.report/1 document: a single one is checked and handed on; among several its ranks are put together with
/// the others, and calls are not matched (`ranks_apart`). Errors: those of ingest::read_trace and ReadableFile (with
/// its name in front where there are several), usage, bad_body.
Result<report::Report> analyze_files(const std::vector<std::string>& files, const ReadingOptions& options,
                                     Hashing hashing);

/// The same of the files that this process was given as its inputs by the service (sandbox/contract.hpp): it locks
/// itself in and says so before it reads a byte. Errors: as above, disk_full.
Result<report::Report> analyze_as_child(std::size_t files, const ReadingOptions& options, const sandbox::Lock& lock);

}  // namespace traceweir::cli
