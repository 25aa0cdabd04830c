// For: how far the commits that follow an accepted one are walked. Not for: the walk, which is each database's own.
#pragma once

#include <cstdint>

namespace traceweir::store {

/// Of each accepted commit at most so many descendants are read: the way to the merge of its pull request is a short
/// one.
inline constexpr std::int64_t descendants_max = 200;

}  // namespace traceweir::store
