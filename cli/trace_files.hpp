// For: the files of a run as the command line means them: names, patterns and folders, in the order of their ranks;
// what must not be sent is refused with the reason. Not for: reading or sending them.
#pragma once

#include <string>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::cli {

/// Shape:  patterns (`traces/rank*.json.gz`, for shells that leave them alone) and folders become the files that they
///         mean, numbers in names counting as numbers (`rank9` before `rank10`). Of a folder only what begins like a
///         trace is taken, the rest is said on stderr. A binary report whose export (NAME.sqlite beside NAME.nsys-rep)
///         is among the files, too, is left out, however they were given; one that is given without it stays.
/// Errors: usage (no such file, a pattern or folder without one), unsupported_format (a database whose journal lies
///         beside it: it is not whole).
Result<std::vector<std::string>> trace_files(const std::vector<std::string>& given);

}  // namespace traceweir::cli
