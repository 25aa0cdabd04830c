#include "analyzer/ingest/kineto_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "analyzer/core/assert.hpp"

namespace traceweir::ingest {
namespace {

constexpr std::size_t read_bytes = std::size_t{256} << 10;
constexpr std::size_t front_bytes = 1;

}  // namespace

std::span<char> TextWindow::unread() {
  return buffer_ ? std::span<char>(buffer_.get() + begin_, end_ - begin_) : std::span<char>();
}

void TextWindow::consume(std::size_t bytes) {
  TRACEWEIR_ASSERT(bytes <= end_ - begin_);
  begin_ += bytes;
  position_ += bytes;
}

Result<bool> TextWindow::more() {
  if (ended_) return false;
  TRACEWEIR_TRY_VOID(make_room());
  const auto got = source_.read({buffer_.get() + end_, std::min(read_bytes, capacity_ - end_)});
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
  if (needed > capacity_) {
    const std::size_t grown = std::max(needed, 2 * capacity_);
    auto larger = std::make_unique<char[]>(grown + padding_bytes);
    if (unread_bytes > 0) std::memcpy(larger.get() + front_bytes, buffer_.get() + begin_, unread_bytes);
    buffer_ = std::move(larger);
    capacity_ = grown;
  } else if (capacity_ - end_ < read_bytes) {
    std::memmove(buffer_.get() + front_bytes, buffer_.get() + begin_, unread_bytes);
  } else {
    return {};
  }
  begin_ = front_bytes;
  end_ = begin_ + unread_bytes;
  return {};
}

}  // namespace traceweir::ingest
