// For: the order in which a person counts files. Not for: other texts.
#pragma once

#include <string_view>

namespace traceweir::cli {

/// Whether `a` comes before `b`, numbers counting as numbers: `rank9` before `rank10`. A strict weak order in which
/// only equal texts are equal.
bool comes_before(std::string_view a, std::string_view b);

}  // namespace traceweir::cli
