// For: what a handler reads a large body into. It begins small and grows with a sender that fills it, so that a
// thousand slow ones cost little and a fast one takes few reads. Not for: small bodies (http::read_small).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "server/http/body.hpp"

namespace traceweir::api {

class BodyBuffer {
 public:
  static constexpr std::size_t first_bytes = std::size_t{16} * 1024;

  /// Where the next bytes go. Ends what filled() gave.
  std::span<std::byte> space() {
    if (count_ == bytes_.size()) bytes_.resize(std::min(2 * bytes_.size(), http::body_buffer_bytes));
    return bytes_;
  }

  /// The first `count` bytes of space(), once they are there.
  std::span<const std::byte> filled(std::size_t count) {
    count_ = count;
    return std::span<const std::byte>(bytes_).first(count);
  }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(first_bytes);
  std::size_t count_ = 0;
};

}  // namespace traceweir::api
