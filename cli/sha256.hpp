// For: SHA-256 of files and texts, as lower-case hex.
// Not for: secrets.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::cli {

std::string sha256_of_text(std::string_view text);

/// Cost: about as much as analysing the file. Errors: io_failed.
Result<std::string> sha256_of_file(const std::string& file);

}  // namespace traceweir::cli
