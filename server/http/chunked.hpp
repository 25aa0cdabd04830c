// For: the chunked coding of a request's body, read strictly. Pure: bytes in, bytes out.
// Source: RFC 9112, section 7.1.
// Not for: reading the socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::http {

/// Extensions and trailers are read over, within a limit; a line that does not end in CR LF is refused.
class ChunkedDecoder {
 public:
  struct Step {
    std::size_t consumed;  ///< bytes of `in`
    std::size_t produced;  ///< bytes of `out`
  };

  /// Goes on until `in` is used up, `out` is full or the body is complete.
  /// Errors: bad_request. The decoder is of no use after it.
  Result<Step> decode(std::string_view in, std::span<std::byte> out);

  /// Whether the last chunk and the trailers have been read; what follows is the next request.
  [[nodiscard]] bool done() const { return state_ == State::done; }

 private:
  enum class State {
    size,       // hex digits
    extension,  // what follows a `;`
    size_lf,    // the LF of a size line
    data,       // bytes of a chunk
    data_cr,    // the CR LF after them
    data_lf,
    trailer,       // at the beginning of a line after the last chunk
    trailer_line,  // inside such a line
    trailer_lf,    // its LF
    final_lf,      // the LF of the empty line
    done,
  };

  bool take(char c);
  bool take_size(char c);
  bool take_text(char c, State at_end);

  State state_ = State::size;
  std::uint64_t chunk_bytes_ = 0;  ///< left of this chunk
  std::size_t size_digits_ = 0;
  std::size_t overhead_bytes_ = 0;  ///< of extensions in this line, or of all trailers
};

}  // namespace traceweir::http
