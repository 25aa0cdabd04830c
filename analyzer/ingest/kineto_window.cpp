#include "analyzer/ingest/kineto_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "analyzer/core/assert.hpp"

namespace traceweir::ingest {
namespace {

constexpr std::size_t read_bytes = std::size_t{512} << 10;
constexpr std::size_t front_bytes = 1;
// So that memory fits the next batch, too, whatever stands behind its last event.
constexpr std::size_t rounded_to_bytes = std::size_t{64} << 10;
constexpr std::size_t spare_bytes_max = 4 * read_bytes;

}  // namespace

std::span<char> TextWindow::unread() {
  return buffer_.bytes ? std::span<char>(buffer_.bytes.get() + begin_, end_ - begin_) : std::span<char>();
}

void TextWindow::consume(std::size_t bytes) {
  TRACEWEIR_ASSERT(bytes <= end_ - begin_);
  begin_ += bytes;
  position_ += bytes;
}

TextBatch TextWindow::take(std::size_t begin, std::size_t end) {
  TRACEWEIR_ASSERT(begin <= end && end <= end_ - begin_);
  TextBatch batch{std::move(buffer_), {}, position_ + begin};
  char* const unread = batch.memory.bytes.get() + begin_;
  batch.text = {unread + begin, end - begin};
  const std::size_t rest = end_ - begin_ - end;
  buffer_ = memory_of(front_bytes + rest + read_bytes);
  std::memcpy(buffer_.bytes.get() + front_bytes, unread + end, rest);
  begin_ = front_bytes;
  end_ = begin_ + rest;
  position_ += end;
  return batch;
}

void TextWindow::read_into(TextMemory memory) {
  const std::size_t unread_bytes = end_ - begin_;
  if (memory.capacity > spare_bytes_max || memory.capacity < front_bytes + unread_bytes + read_bytes) return;
  if (unread_bytes > 0) std::memcpy(memory.bytes.get() + front_bytes, buffer_.bytes.get() + begin_, unread_bytes);
  spare_ = std::exchange(buffer_, std::move(memory));
  begin_ = front_bytes;
  end_ = begin_ + unread_bytes;
}

TextMemory TextWindow::memory_of(std::size_t bytes) {
  if (spare_.capacity >= bytes) return std::exchange(spare_, {});
  const std::size_t capacity = (bytes / rounded_to_bytes + 1) * rounded_to_bytes;
  return {std::make_unique_for_overwrite<char[]>(capacity + padding_bytes), capacity};
}

Result<bool> TextWindow::more() {
  if (ended_) return false;
  TRACEWEIR_TRY_VOID(make_room());
  const auto got = source_.read({buffer_.bytes.get() + end_, std::min(read_bytes, buffer_.capacity - end_)});
  if (!got && got.error().code != ErrorCode::malformed_trace) return tl::unexpected(got.error());
  if (!got) damage_ = got.error();
  ended_ = !got || *got == 0;
  if (!ended_) end_ += *got;
  return !ended_;
}

Result<void> TextWindow::make_room() {
  const std::size_t unread_bytes = end_ - begin_;
  if (unread_bytes > window_bytes_max)
    return fail(ErrorCode::malformed_trace, fmt::format("byte {}: one value of the JSON text is larger than {} MiB",
                                                        position_, window_bytes_max >> 20));
  const std::size_t needed = front_bytes + unread_bytes + read_bytes;
  if (needed > buffer_.capacity) {
    const TextMemory smaller = std::move(buffer_);
    buffer_ = memory_of(std::max(needed, 2 * smaller.capacity));
    if (unread_bytes > 0) std::memcpy(buffer_.bytes.get() + front_bytes, smaller.bytes.get() + begin_, unread_bytes);
  } else if (buffer_.capacity - end_ < read_bytes) {
    std::memmove(buffer_.bytes.get() + front_bytes, buffer_.bytes.get() + begin_, unread_bytes);
  } else {
    return {};
  }
  begin_ = front_bytes;
  end_ = begin_ + unread_bytes;
  return {};
}

}  // namespace traceweir::ingest
