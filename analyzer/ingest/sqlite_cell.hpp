// For: a value of a row of a SQLite table. Not for: reading one.
#pragma once

#include <cstdint>
#include <string_view>

namespace traceweir::ingest {

/// One value of a row, by the type that it has and not the one that its column declares.
struct Cell {
  enum class Type : std::uint8_t { null, integer, text, real, blob };
  Type type = Type::null;
  std::int64_t integer = 0;  ///< of an integer, else 0
  std::string_view text;     ///< of a text or blob, valid until the next row; any bytes
  double real = 0;           ///< of a real, else 0; may be infinite
};

}  // namespace traceweir::ingest
