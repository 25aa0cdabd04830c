// For: inflating one member of gzip, by whichever library this build has. Not for: files of several members, limits
// (inflate.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace traceweir::ingest {

/// A member of gzip that comes in pieces.
/// Thread: one at a time.
class GzipMember {
 public:
  enum class State : std::uint8_t {
    going_on,
    whole,    ///< the member has ended, and its checksum is right
    damaged,  ///< what was given before is what could be inflated
  };
  /// What one call did.
  struct Step {
    std::size_t taken;  ///< bytes of the input
    std::size_t given;  ///< bytes of the output
    State state;
    std::string_view why;  ///< of damage
  };

  virtual ~GzipMember() = default;

  /// Starts a member.
  virtual void begin() = 0;

  /// Inflates on. Shape: `in` is what the last call left, or what comes next; empty: nothing comes any
  /// more, and what was kept back is wanted. `out` is not empty.
  virtual Step inflate(std::span<const char> in, std::span<char> out) = 0;
};

/// Nothing: no memory.
std::unique_ptr<GzipMember> gzip_member_of_zlib();

/// By ISA-L, three times as fast. Nothing: this build is without it, or no memory.
std::unique_ptr<GzipMember> gzip_member_of_isal();

/// That of ISA-L where this build has it, else that of zlib. Nothing: no memory.
std::unique_ptr<GzipMember> fastest_gzip_member();

}  // namespace traceweir::ingest
