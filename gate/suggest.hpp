// For: the word that was probably meant, for messages about words that nobody knows.
// Not for: deciding whether a word is known.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace traceweir::gate {

/// ` (did you mean "gpu.idle"?)`, or nothing where no word is near.
/// Cost: O(words · length²), lengths above 64 are never near.
std::string suggestion(std::string_view word, std::span<const std::string_view> words);

}  // namespace traceweir::gate
