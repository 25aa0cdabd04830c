// For: putting points of a history in the order of the commit graph. Not for: reading the graph from a database; pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceweir::store {

/// The first parent of a commit; nothing where it is not known.
using FirstParent = std::function<std::optional<std::string>(const std::string& sha)>;

/// How many first parents are asked for in one call. What lies further than that counts as unknown.
inline constexpr std::size_t parent_questions_max = 100'000;

/// The indices of `commits` in commit order: each one after all those of its first-parent ancestors, in whatever order
/// they are given; where the graph does not tell, the given order stays. Commits without an entry may lie between.
/// Errors: throws what `first_parent` throws. A graph that goes in circles only gives some order.
/// Cost: linear, some 150 bytes a commit, and at most `parent_questions_max` questions.
std::vector<std::size_t> commit_order(std::span<const std::string_view> commits, const FirstParent& first_parent);

}  // namespace traceweir::store
