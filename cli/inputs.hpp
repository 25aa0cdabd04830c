// For: which files a command line means, and which of them belong to one capture. Not for: reading them (reading.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::cli {

/// A file to read. One that was only found in a folder may be something else.
struct FoundFile {
  std::string path;
  enum class How { named, in_folder } how;
};

/// Whether `file` is a binary report of Nsight Systems whose export (NAME.sqlite beside NAME.nsys-rep) is among
/// `files`: it would be a second rank with the same numbers. If so, that is said on stderr.
bool is_measured_twice(const std::string& file, const std::vector<std::string>& files);

/// A folder stands for the files in it, by name, hidden ones and folders left out; of a report and its export the
/// export counts. Errors: usage (too many files), io_failed.
Result<std::vector<FoundFile>> files_of(const std::vector<std::string>& paths);

/// What a file turned out to be: ranks to measure, or a report that was made elsewhere.
struct MeasuredFile {
  std::string path;
  std::vector<report::MeasuredRank> measured;  ///< of a trace: its rows are gone
  std::vector<timeline::Timeline> ranks;       ///< of tables, which may have to be joined before they are measured
  report::TraceFacts facts;
  std::optional<report::Report> report;
};

/// Makes one of the tables of one capture that lie in several files: where their names differ only in the report's name
/// (`base_cuda_gpu_kern_sum.csv`), or where a file without such a name brings tables that the one before it lacks.
/// Shape:  several files have no one hash: it is left empty.
/// Errors: malformed_trace (the same table twice).
Result<void> join_tables(std::vector<MeasuredFile>& files);

}  // namespace traceweir::cli
