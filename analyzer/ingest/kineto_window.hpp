// For: a stream of JSON text seen through a window of bounded size, with the position in the file for messages.
// Not for: JSON itself (kineto_document.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/inflate.hpp"

namespace traceweir::ingest {

/// Bytes to read text into.
struct TextMemory {
  std::unique_ptr<char[]> bytes;
  std::size_t capacity = 0;  ///< without padding
};

/// A piece of the text that has left the window, with its memory. Shape: one writable byte in front of `text` and
/// TextWindow::padding_bytes behind are its own.
struct TextBatch {
  TextMemory memory;
  std::span<char> text;
  std::uint64_t position = 0;  ///< in the inflated file
};

/// The unread front of a ByteSource.
/// Thread: one at a time.
class TextWindow {
 public:
  explicit TextWindow(ByteSource& source) : source_(source) {}

  /// What was read from the source and not consumed yet. Shape: one writable byte in front, `padding_bytes` readable
  /// bytes behind: a parser may run over the end, and a batch gets its brackets in place.
  [[nodiscard]] std::span<char> unread();
  [[nodiscard]] std::string_view text() { return {unread().data(), end_ - begin_}; }

  /// Bytes that the parser may read behind the unread text.
  static constexpr std::size_t padding_bytes = 128;

  void consume(std::size_t bytes);

  /// Takes the bytes from `begin` to `end` of the unread text out, and consumes all up to `end`.
  /// Cost: what stands behind is copied.
  TextBatch take(std::size_t begin, std::size_t end);

  /// Reads on in `memory`, if it is large enough: fresh pages, and those that another core has used, cost as much as
  /// reading into them. Cost: the unread text is copied.
  void read_into(TextMemory memory);

  /// Reads more behind the unread text. false: the source has ended, or is damaged from here on (`damage`).
  /// Errors: malformed_trace (the unread text would grow beyond `window_bytes_max`: one value of that size),
  ///         trace_too_large, io_failed.
  Result<bool> more();

  /// Position of the unread text in the inflated file.
  [[nodiscard]] std::uint64_t position() const { return position_; }

  /// Why the source ended early; nothing: it ended well.
  [[nodiscard]] const std::optional<Error>& damage() const { return damage_; }

  /// More than any value that a profiler writes.
  static constexpr std::size_t window_bytes_max = std::size_t{64} << 20;

 private:
  Result<void> make_room();
  TextMemory memory_of(std::size_t bytes);

  ByteSource& source_;
  TextMemory buffer_;
  TextMemory spare_;
  std::size_t begin_ = 1;
  std::size_t end_ = 1;
  std::uint64_t position_ = 0;
  bool ended_ = false;
  std::optional<Error> damage_;
};

}  // namespace traceweir::ingest
