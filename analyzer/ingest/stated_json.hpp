// For: the free form, {"metrics": {"custom.NAME": {"value": 1.5, "unit": "s", "better": "lower"}}}: values that the job
// measured itself. Not for: reports of ours (report room).
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

// What a document may hold.
inline constexpr std::size_t stated_bytes_max = std::size_t{256} << 10;
inline constexpr std::size_t stated_metrics_max = 200;
inline constexpr std::size_t stated_name_bytes_max = 128;

/// Whether a JSON document begins with the key `metrics`.
bool is_stated_json(std::string_view head);

/// One rank without work, with the values in the order of the document.
/// Shape:  `value` finite; `unit` a text of at most Unit::bytes_max bytes (default: count); `better` lower, higher or
///         none (default: none). Other keys are errors.
/// Errors: bad_body, naming the metric and the key; those of whole_text.
/// Source: spec of the API, section 1.
Result<std::vector<timeline::Timeline>> read_stated_json(TraceInput& input);

}  // namespace traceweir::ingest
