// For: JSON documents that are small and of which every member counts (stated metrics, tables of sums), as a value with
// its members in order and its numbers as they are written. Not for: traces (kineto_parse.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::ingest {

struct JsonMember;

/// A value of a document.
struct SmallJson {
  enum class Kind { null, boolean, number, text, array, object };
  Kind kind = Kind::null;
  std::string text;                 ///< of a text its bytes, of a number its spelling, of a boolean `true` or `false`
  std::vector<SmallJson> items;     ///< of an array
  std::vector<JsonMember> members;  ///< of an object, in order, doubles kept

  /// The first member of this name, or nullptr.
  [[nodiscard]] const SmallJson* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  SmallJson value;
};

inline constexpr std::size_t small_json_depth_max = 16;

/// Shape:  strict JSON (no NaN, no comments), nested at most small_json_depth_max deep.
/// Errors: bad_body, with the byte.
/// Cost:   memory of about 150 bytes for a value; the caller bounds the text.
Result<SmallJson> parse_small_json(std::string_view text);

}  // namespace traceweir::ingest
