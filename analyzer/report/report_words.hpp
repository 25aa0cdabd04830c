// For: words of the report that no other room gives. Not for: enumerators that have their word where they are declared.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::report {

std::string_view word(timeline::WorkKind kind);
std::optional<timeline::WorkKind> work_kind_of(std::string_view word);

}  // namespace traceweir::report
