// For: a body that comes from the socket, by either framing, within the limits on slowness.
// Not for: bodies that are in memory (body.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "server/http/body.hpp"
#include "server/http/chunked.hpp"
#include "server/http/head.hpp"
#include "server/http/patience.hpp"
#include "server/http/wire.hpp"

namespace traceweir::http {

/// Thread: as the wire.
class SocketBody final : public BodyReader {
 public:
  SocketBody(Wire& wire, const Head& head, const HttpLimits& limits);

  boost::asio::awaitable<Result<std::size_t>> read(std::span<std::byte> into) override;
  [[nodiscard]] std::optional<std::uint64_t> announced_bytes() const override;

  /// Whether the connection stands at the next request.
  [[nodiscard]] bool complete() const { return complete_; }
  /// What read() gave so far.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  boost::asio::awaitable<Result<void>> send_continue();
  boost::asio::awaitable<Result<std::size_t>> read_framed(std::span<std::byte> into);
  boost::asio::awaitable<Result<std::size_t>> read_counted(std::span<std::byte> into);
  boost::asio::awaitable<Result<std::size_t>> read_chunked(std::span<std::byte> into);

  Wire& wire_;
  Framing framing_;
  std::uint64_t announced_;
  Patience patience_;
  ChunkedDecoder decoder_;
  std::size_t raw_piece_bytes_ = std::size_t{8} * 1024;  ///< read at a time; grows with a sender that fills it
  bool owes_continue_;
  bool complete_;
  std::optional<Error> failed_;  ///< the first failure; every read after it fails alike
  std::uint64_t bytes_ = 0;
};

}  // namespace traceweir::http
