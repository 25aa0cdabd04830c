#include "server/http/body.hpp"

#include <array>
#include <cstring>
#include <memory>

namespace traceweir::http {
namespace {

tl::unexpected<Error> too_large(std::size_t bytes_max) {
  return fail(ErrorCode::upload_too_large, "the body is larger than " + std::to_string(bytes_max) + " bytes");
}

}  // namespace

boost::asio::awaitable<Result<std::string>> read_small(BodyReader& body, std::size_t bytes_max) {
  if (body.announced_bytes().value_or(0) > bytes_max) co_return too_large(bytes_max);
  std::string text;
  std::array<std::byte, 4096> piece;
  for (;;) {
    const Result<std::size_t> got = co_await body.read(piece);
    if (!got) co_return tl::unexpected(got.error());
    if (*got == 0) co_return text;
    if (*got > bytes_max - text.size()) co_return too_large(bytes_max);
    const std::size_t before = text.size();
    text.resize(before + *got);
    std::memcpy(text.data() + before, piece.data(), *got);
  }
}

boost::asio::awaitable<Result<std::size_t>> StringBody::read(std::span<std::byte> into) {
  const std::size_t count = std::min(into.size(), text_.size() - taken_);
  std::copy_n(std::as_bytes(std::span(text_)).begin() + static_cast<std::ptrdiff_t>(taken_), count, into.begin());
  taken_ += count;
  co_return count;
}

}  // namespace traceweir::http
