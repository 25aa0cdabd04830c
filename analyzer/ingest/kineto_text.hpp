// For: JSON text as profilers really write it: strings with escapes that are none, raw control characters, bytes that
// are no UTF-8, NaN and Infinity. Not for: text that a JSON parser accepts anyway.
#pragma once

#include <string>
#include <string_view>

namespace traceweir::ingest {

/// What may stand between the tokens of a JSON document.
inline constexpr std::string_view json_blanks = " \t\r\n";

/// What a JSON string token says. Shape: `token` with its quotes; the result is a part of it where nothing is escaped,
/// else it lies in `scratch`.
struct StringText {
  std::string_view text;
  bool valid;  ///< false: an escape that is none, or half a surrogate pair; it became U+FFFD
};
StringText string_text(std::string_view token, std::string& scratch);

/// The same JSON text in a form that a strict parser reads: outside strings NaN and Infinity become null, inside them
/// control characters become spaces, broken escapes lose their backslash and bytes that are no UTF-8 become U+FFFD. In
/// the value of "name" a quote that neither the next key nor the end of the object follows is part of the name.
std::string repaired(std::string_view json);

}  // namespace traceweir::ingest
