// For: names that jobs give their ranges, which may hold the path of somebody's home: `load /home/bob/data`.
// Not for: paths as such; what lies below the home tells what the job did and stays.
#pragma once

#include <string>
#include <string_view>

namespace traceweir::timeline {

/// Whether without_homes() has anything to look for. Cost: O(n), much less.
bool may_hold_home(std::string_view text);

/// `text` with `~` in place of each `/home/NAME`, `/Users/NAME`, `X:\Users\NAME` and `/root`.
/// Cost: O(n).
std::string without_homes(std::string_view text);

/// What is stored of a name: clean text (core/text.hpp) without homes. Cost: O(n).
std::string clean_name(std::string_view text);

}  // namespace traceweir::timeline
