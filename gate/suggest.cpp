#include "gate/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace traceweir::gate {
namespace {

constexpr std::size_t length_max = 64;

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

}  // namespace

std::string suggestion(std::string_view word, std::span<const std::string_view> words) {
  if (word.size() > length_max) return {};
  const std::size_t edits_max = std::max<std::size_t>(2, word.size() / 4);
  std::size_t best = edits_max + 1;
  std::string_view nearest;
  for (const std::string_view candidate : words) {
    if (candidate.size() > length_max) continue;
    const std::size_t edits = edits_between(word, candidate);
    if (edits < best && edits < candidate.size()) best = edits, nearest = candidate;
  }
  return nearest.empty() ? std::string() : fmt::format(" (did you mean \"{}\"?)", nearest);
}

}  // namespace traceweir::gate
