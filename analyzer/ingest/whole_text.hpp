// For: the inflated text of a small file, where its reader wants it in one piece. Not for: traces.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/trace_input.hpp"

namespace traceweir::ingest {

/// Shape:  without a byte-order mark.
/// Errors: trace_too_large (more than `bytes_max` after decompression), those of TraceInput::text.
Result<std::string> whole_text(TraceInput& input, std::size_t bytes_max);

}  // namespace traceweir::ingest
