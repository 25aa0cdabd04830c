// For: the bytes of a request's body, read piece by piece, compressed on the way where that pays.
// Not for: sending them (client.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::cli {

enum class Packing { as_is, zstd };

/// What a body is made of: a file, or where its name is empty, a text. Both outlive the source.
struct BodyOf {
  const std::string& file;
  const std::string& text;
  Packing packing;
};

/// Reads once from the beginning to the end.
class BodySource {
 public:
  virtual ~BodySource() = default;

  /// Fills `into` as far as there are bytes. Returns how many; 0: the end.
  /// Errors: io_failed: the file cannot be read, or became shorter while it was.
  virtual Result<std::size_t> read(std::span<char> into) = 0;

  /// Bytes of the whole body as it is sent; nothing: not known before it ends.
  [[nodiscard]] virtual std::optional<std::uint64_t> length() const = 0;

  /// How much of the file was read, for a person who waits. Units: bytes of the file, not of what is sent.
  [[nodiscard]] virtual std::uint64_t done() const = 0;
  [[nodiscard]] virtual std::uint64_t total() const = 0;
};

/// Errors: io_failed.
Result<std::unique_ptr<BodySource>> body_source(const BodyOf& of);

/// zstd for what is worth it: not compressed already, and not so small that it does not matter. `head`: the first
/// bytes.
Packing packing_of(std::string_view head, std::uint64_t bytes);
/// The same of a file. Errors: io_failed.
Result<Packing> packing_of_file(const std::string& file);

}  // namespace traceweir::cli
