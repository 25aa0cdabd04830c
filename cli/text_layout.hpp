// For: text in columns and lines of a terminal. Not for: colours, cleaning.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace traceweir::cli {

/// `text` with spaces behind it up to `width` characters.
std::string padded(std::string_view text, std::size_t width);

/// `first` and the words of `text`, in lines of at most `width` characters (0: one line); further lines are indented as
/// far as `first` is long. Shape: every line is ended; a word that is longer than a line has one of its own.
std::string wrapped(std::string_view first, std::string_view text, std::size_t width);

}  // namespace traceweir::cli
