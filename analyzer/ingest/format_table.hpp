// For: the table of formats. Adding a format is a pair of files and a row here. Not for: telling what is no trace
// (sniff.hpp).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// One format.
struct Format {
  std::string_view name;  ///< `kineto_json`: the word in reports, unless the reader sets a closer one
  bool (*matches)(std::string_view head);
  Result<std::vector<timeline::Timeline>> (*read)(TraceInput& input);
};

/// All formats, tried in order; the first match reads.
std::span<const Format> formats();

}  // namespace traceweir::ingest
