#include "server/http/chunked.hpp"

#include <algorithm>
#include <cstring>

namespace traceweir::http {
namespace {

constexpr std::size_t size_digits_max = 15;  // 2^60: no sum can overflow
constexpr std::size_t overhead_bytes_max = 1024;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool ChunkedDecoder::take_size(char c) {
  if (const int digit = hex_value(c); digit >= 0) {
    chunk_bytes_ = chunk_bytes_ * 16 + static_cast<unsigned>(digit);
    return ++size_digits_ <= size_digits_max;
  }
  overhead_bytes_ = 0;
  state_ = c == ';' ? State::extension : State::size_lf;
  return size_digits_ > 0 && (c == ';' || c == '\r');
}

bool ChunkedDecoder::take_text(char c, State at_end) {
  if (c == '\r') {
    state_ = at_end;
    return true;
  }
  const bool visible = (c >= 0x20 && c < 0x7f) || c == '\t';
  return visible && ++overhead_bytes_ <= overhead_bytes_max;
}

bool ChunkedDecoder::take(char c) {
  const State before = state_;
  switch (before) {
    case State::size:
      return take_size(c);
    case State::extension:
      return take_text(c, State::size_lf);
    case State::size_lf:
      size_digits_ = 0;
      overhead_bytes_ = 0;
      state_ = chunk_bytes_ == 0 ? State::trailer : State::data;
      return c == '\n';
    case State::data_cr:
      state_ = State::data_lf;
      return c == '\r';
    case State::data_lf:
      state_ = State::size;
      return c == '\n';
    case State::trailer:
      state_ = State::trailer_line;
      if (c != '\r') return take_text(c, State::trailer_lf);
      state_ = State::final_lf;
      return true;
    case State::trailer_line:
      return take_text(c, State::trailer_lf);
    case State::trailer_lf:
      state_ = State::trailer;
      return c == '\n';
    case State::final_lf:
      state_ = State::done;
      return c == '\n';
    case State::data:
    case State::done:
      break;
  }
  return false;
}

Result<ChunkedDecoder::Step> ChunkedDecoder::decode(std::string_view in, std::span<std::byte> out) {
  Step step{0, 0};
  while (step.consumed < in.size() && state_ != State::done) {
    if (state_ != State::data) {
      if (!take(in[step.consumed])) return fail(ErrorCode::bad_request, "the chunked coding of the body is broken");
      ++step.consumed;
      continue;
    }
    const std::size_t room = std::min(in.size() - step.consumed, out.size() - step.produced);
    const std::size_t count = std::min<std::uint64_t>(room, chunk_bytes_);
    if (count == 0) break;
    std::memcpy(out.data() + step.produced, in.data() + step.consumed, count);
    step.consumed += count;
    step.produced += count;
    chunk_bytes_ -= count;
    if (chunk_bytes_ == 0) state_ = State::data_cr;
  }
  return step;
}

}  // namespace traceweir::http
