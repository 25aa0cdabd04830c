// For: names that come out of traces, headers and queries. Everything that leaves the process as text goes through here
// once, so that no name can break a log line, a terminal or a document.
// Not for: escaping for a certain document (each writer does that).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace traceweir {

/// Names are cut at this many bytes; a hash keeps names apart that share the first ones.
inline constexpr std::size_t name_bytes_max = 512;

/// Valid UTF-8 of at most `bytes_max` bytes: invalid sequences become U+FFFD, control characters (C0, DEL, C1) and
/// bidirectional controls become \xNN or \u{NNNN}; a longer text ends in `…#` and eight hex digits of its hash.
/// Cost: O(n). Clean short text is returned as it is.
std::string clean_text(std::string_view text, std::size_t bytes_max = name_bytes_max);

/// Whether `text` is valid UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

}  // namespace traceweir
