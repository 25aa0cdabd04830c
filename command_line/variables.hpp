// For: variables of the environment that bear our name and that nobody reads: a typo must not silently keep a default.
// Not for: reading any of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceweir::command_line {

/// A sentence per TRACEWEIR_* variable of this process that is neither `read` by the program nor one `of_others` of
/// ours; with the one of `read` that was probably meant. In the order of their names.
std::vector<std::string> unread_variables(const std::vector<std::string>& read,
                                          std::span<const std::string_view> of_others);

}  // namespace traceweir::command_line
