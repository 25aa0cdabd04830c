#include "server/store/commit_order.hpp"

#include <unordered_map>
#include <utility>

namespace traceweir::store {
namespace {

constexpr std::size_t no_entry = static_cast<std::size_t>(-1);

/// A commit that has entries. Nearly all have one: no list of each.
struct Node {
  std::size_t first, last;            // entries
  std::optional<std::size_t> parent;  // its nearest first-parent ancestor that has entries
  bool visited = false;               // all its entries have their place, or get it in the walk that goes on
};

struct Forest {
  std::vector<Node> nodes;
  std::vector<std::size_t> node_of;     // by entry
  std::vector<std::size_t> next_entry;  // by entry: the next one of its node, in the given order
};

/// Finds the nearest ancestor with entries. No commit is asked for twice, since chains share their upper part.
class Ancestors {
 public:
  Ancestors(std::unordered_map<std::string_view, std::size_t> numbers, const FirstParent& first_parent)
      : numbers_(std::move(numbers)), first_parent_(first_parent) {}

  std::optional<std::size_t> nearest(std::string_view sha) {
    std::vector<std::string> passed;
    std::optional<std::size_t> found;
    for (auto next = parent_of(std::string(sha)); next; next = parent_of(*next)) {
      if (const auto number = numbers_.find(*next); number != numbers_.end()) {
        found = number->second;
        break;
      }
      const auto [known, is_new] = without_entries_.try_emplace(*next, std::nullopt);
      if (!is_new) {
        found = known->second;
        break;
      }
      passed.push_back(*next);
    }
    for (const std::string& commit : passed) without_entries_[commit] = found;
    return found;
  }

 private:
  std::optional<std::string> parent_of(const std::string& sha) {
    if (questions_ == parent_questions_max) return std::nullopt;
    ++questions_;
    return first_parent_(sha);
  }

  std::unordered_map<std::string_view, std::size_t> numbers_;  // of the commits with entries
  std::unordered_map<std::string, std::optional<std::size_t>> without_entries_;
  const FirstParent& first_parent_;
  std::size_t questions_ = 0;
};

Forest forest_of(std::span<const std::string_view> commits, const FirstParent& first_parent) {
  Forest forest;
  forest.next_entry.assign(commits.size(), no_entry);
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < commits.size(); ++i) {
    const auto [number, is_new] = numbers.try_emplace(commits[i], forest.nodes.size());
    if (is_new)
      forest.nodes.push_back({i, i, std::nullopt});
    else
      forest.next_entry[std::exchange(forest.nodes[number->second].last, i)] = i;
    forest.node_of.push_back(number->second);
  }
  Ancestors ancestors(std::move(numbers), first_parent);
  for (Node& node : forest.nodes) node.parent = ancestors.nearest(commits[node.first]);
  return forest;
}

/// The ancestors that have no place yet, nearest first. They are marked at once, which also ends a circle.
std::vector<std::size_t> waiting_ancestors(Forest& forest, std::size_t node) {
  std::vector<std::size_t> waiting;
  for (auto next = forest.nodes[node].parent; next && !forest.nodes[*next].visited; next = forest.nodes[*next].parent) {
    forest.nodes[*next].visited = true;
    waiting.push_back(*next);
  }
  return waiting;
}

}  // namespace

std::vector<std::size_t> commit_order(std::span<const std::string_view> commits, const FirstParent& first_parent) {
  Forest forest = forest_of(commits, first_parent);
  std::vector<std::size_t> order;
  std::vector<bool> placed(commits.size(), false);
  const auto place = [&](std::size_t entry) {
    if (placed[entry]) return;
    placed[entry] = true;
    order.push_back(entry);
  };
  for (std::size_t i = 0; i < commits.size(); ++i) {
    if (placed[i]) continue;
    const auto waiting = waiting_ancestors(forest, forest.node_of[i]);
    for (auto node = waiting.rbegin(); node != waiting.rend(); ++node)
      for (std::size_t entry = forest.nodes[*node].first; entry != no_entry; entry = forest.next_entry[entry])
        place(entry);
    place(i);
  }
  return order;
}

}  // namespace traceweir::store
