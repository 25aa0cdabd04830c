#include "server/http/socket_body.hpp"

#include <algorithm>
#include <utility>

namespace traceweir::http {
namespace {

constexpr std::size_t raw_piece_bytes_max = std::size_t{64} * 1024;

tl::unexpected<Error> cut() { return fail(ErrorCode::bad_request, "the body ended before its announced end"); }

}  // namespace

SocketBody::SocketBody(Wire& wire, const Head& head, const HttpLimits& limits)
    : wire_(wire),
      framing_(head.framing),
      announced_(head.body_bytes),
      patience_(limits),
      owes_continue_(head.expects_continue),
      complete_(head.framing == Framing::length && head.body_bytes == 0) {}

std::optional<std::uint64_t> SocketBody::announced_bytes() const {
  return framing_ == Framing::length ? std::optional(announced_) : std::nullopt;
}

boost::asio::awaitable<Result<std::size_t>> SocketBody::read(std::span<std::byte> into) {
  if (failed_) co_return tl::unexpected(*failed_);
  if (complete_ || into.empty()) co_return std::size_t{0};
  if (owes_continue_) {
    const Result<void> sent = co_await send_continue();
    if (!sent) co_return tl::unexpected(*(failed_ = sent.error()));
  }
  const Result<std::size_t> got = co_await read_framed(into);
  if (!got) co_return tl::unexpected(*(failed_ = got.error()));
  bytes_ += *got;
  if (framing_ == Framing::length) complete_ = bytes_ == announced_;
  co_return *got;
}

/// No coroutine of its own: g++ 12 destroys the operands of a conditional twice where it is awaited.
boost::asio::awaitable<Result<std::size_t>> SocketBody::read_framed(std::span<std::byte> into) {
  return framing_ == Framing::length ? read_counted(into) : read_chunked(into);
}

/// A client that has begun to send anyway needs no invitation.
boost::asio::awaitable<Result<void>> SocketBody::send_continue() {
  owes_continue_ = false;
  std::string_view rest = wire_.ahead().empty() ? "HTTP/1.1 100 Continue\r\n\r\n" : "";
  while (!rest.empty()) {
    const Result<std::size_t> sent = co_await wire_.write_some(rest, Wire::Clock::now() + patience_.left());
    if (!sent) co_return tl::unexpected(sent.error());
    rest.remove_prefix(*sent);
  }
  co_return Result<void>();
}

boost::asio::awaitable<Result<std::size_t>> SocketBody::read_counted(std::span<std::byte> into) {
  const std::size_t wanted = std::min<std::uint64_t>(into.size(), announced_ - bytes_);
  const auto begun = Wire::Clock::now();
  const Result<std::size_t> got = co_await wire_.read_some(into.first(wanted), begun + patience_.left());
  if (!got) co_return got;
  patience_.spend(Wire::Clock::now() - begun, *got);
  if (*got == 0) co_return cut();
  co_return *got;
}

boost::asio::awaitable<Result<std::size_t>> SocketBody::read_chunked(std::span<std::byte> into) {
  for (;;) {
    const Result<ChunkedDecoder::Step> step = decoder_.decode(wire_.ahead(), into);
    if (!step) co_return tl::unexpected(step.error());
    wire_.use(step->consumed);
    complete_ = decoder_.done();
    if (step->produced > 0 || complete_) co_return step->produced;

    const auto begun = Wire::Clock::now();
    const Result<std::size_t> got = co_await wire_.read_ahead(raw_piece_bytes_, begun + patience_.left());
    if (!got) co_return got;
    patience_.spend(Wire::Clock::now() - begun, *got);
    if (*got == 0) co_return cut();
    if (*got == raw_piece_bytes_) raw_piece_bytes_ = std::min(2 * raw_piece_bytes_, raw_piece_bytes_max);
  }
}

}  // namespace traceweir::http
