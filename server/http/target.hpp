// For: percent-encoding, and the path of a request target as decoded segments. Not for: the query's items (query.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::http {

/// Undoes %XX. Nothing, when an escape is broken.
std::optional<std::string> percent_decoded(std::string_view text);

/// The segments of a path, each decoded after the split, so that an encoded slash never makes a new one.
/// Shape:  `/` has none; `/a//b` and `/a/` have an empty one, which no route has.
/// Errors: bad_request (not beginning with `/`; a broken escape; a segment that is not UTF-8, holds a slash, a
/// backslash
///         or a control character, or is `.` or `..`).
Result<std::vector<std::string>> path_segments(std::string_view path);

/// Whether one of our tokens (`twr_<id>_…`) is in the text, whole or cut; or a signed token of somebody else's, such as
/// a CI's id token (RFC 7519: `eyJ….eyJ….…`).
/// Cost:   linear.
bool holds_token(std::string_view text);

/// The path for a log: cleaned, and anything that looks like such a token masked.
std::string target_for_log(std::string_view path);

}  // namespace traceweir::http
