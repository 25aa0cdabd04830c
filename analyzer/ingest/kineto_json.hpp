// For: traces that the PyTorch profiler (Kineto) writes as JSON. Not for: other Chrome traces, although one without GPU
// rows reads as a rank without work.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/inflate.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// Reads one export: an object with `traceEvents` among its keys, or a bare array of events.
/// Shape:  one Timeline: a Kineto file is one rank.
/// Units:  `ts` and `dur` arrive as decimal microseconds, leave as integer ns cut from the text; on the trace's own
///         clock (`baseTimeNanoseconds` is not added).
/// Errors: not_a_trace (JSON without events; says what was found), malformed_trace (names the byte; also a second
///         document behind the first, and a cut before the first whole event), trace_too_large, io_failed. A trace cut
///         later is read as far as it goes and marked `truncated`.
/// Source: libkineto output_json, schemaVersion 1, and its forms since 2021; spec of formats, section 4;
///         docs/formats/kineto.md.
/// Cost:   one pass; memory: up to three batches of 512 KiB for each thread, or the largest event, and the rows that
/// are
///         kept.
/// Thread: reentrant.
Result<std::vector<timeline::Timeline>> read_kineto_json(TraceInput& input);

/// The same from bytes that come from anywhere, on so many threads, the first of which reads `alone` batches before the
/// others start; that changes nothing but the time.
/// Errors: as above.
Result<timeline::Timeline> read_kineto(ByteSource& source, std::size_t threads = 1, std::size_t alone = 1);

}  // namespace traceweir::ingest
