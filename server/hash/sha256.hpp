// For: SHA-256 of bytes that come in pieces, of texts and of files, for the service and the client. Not for: comparing
// secrets (api does, in constant time).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::hash {

/// Shape: give bytes in order with update(), take the hash once with hex().
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  /// Cost: about 2 GB/s with the processor's SHA instructions, 400 MB/s without.
  void update(std::span<const std::byte> bytes);

  /// The hash of all bytes so far, 64 characters of lower-case hex. Ends the use of this object.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The hash of a text in memory, 64 characters of lower-case hex.
std::string sha256_hex(std::string_view text);

/// The hash of a file. Errors: io_failed. Cost: about as much as analysing a trace.
Result<std::string> sha256_of_file(const std::string& file);

/// Whether `text` is 64 characters of lower-case hex.
bool is_sha256(std::string_view text);

}  // namespace traceweir::hash
