// For: the outside of a trace file: an object with `traceEvents` anywhere among other keys, or a bare array, cut into
// batches of whole events in bounded memory. Not for: what events or keys mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/kineto_window.hpp"

namespace traceweir::ingest {

/// The batches of one array of events, in the order of the file.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// Reads and cuts off the next one: whole elements with commas between, in `memory` where that is large enough.
  /// Nothing: there is no more; what ended the array is the walk's business.
  /// Thread: any, one at a time.
  virtual std::optional<TextBatch> next(TextMemory memory) = 0;
};

/// Takes what a document consists of, in the order of the file.
class DocumentSink {
 public:
  virtual ~DocumentSink() = default;

  /// Whether member() wants the value of this top-level key. Others are passed over unread.
  [[nodiscard]] virtual bool wants(std::string_view key) const = 0;

  /// The value of a wanted key. Shape: one JSON value; one byte before and TextWindow::padding_bytes behind are ours.
  virtual void member(std::string_view key, std::span<char> value, std::uint64_t position) = 0;

  /// Takes all batches of an array of events.
  /// Errors: not_a_trace (the elements are no events).
  virtual Result<void> batches(BatchSource& source) = 0;
};

/// What a document turned out to be.
struct DocumentShape {
  bool bare_array = false;
  bool has_events = false;                       ///< an array of events was there (whole or cut)
  std::vector<std::string> keys;                 ///< the first few top-level keys, for messages
  std::vector<std::string> passed_over;          ///< wanted keys whose value was too large
  std::int64_t missing_commas = 0;               ///< between batches of events
  std::optional<std::string> cut;                ///< why the document ended early; nothing: it is whole
  std::optional<std::uint64_t> second_document;  ///< where something else begins behind the document
};

/// Walks over a document to the end of the source.
/// Errors: malformed_trace (names the byte), not_a_trace (from the sink; or `traceEvents` is no array),
///         trace_too_large, io_failed.
/// Cost:   one pass; memory: two batches, or the largest event.
Result<DocumentShape> walk_document(TextWindow& window, DocumentSink& sink);

}  // namespace traceweir::ingest
