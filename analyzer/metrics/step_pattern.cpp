#include "analyzer/metrics/step_pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analyzer/core/ascii.hpp"

namespace traceweir::metrics {
namespace {

constexpr std::string_view profiler_step_prefix = "ProfilerStep#";
constexpr std::string_view step_words[] = {"step", "iteration", "iter", "batch"};
constexpr std::string_view separators = " #_:";

bool is_number(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

bool is_profiler_step(std::string_view name) {
  return name.starts_with(profiler_step_prefix) && is_number(name.substr(profiler_step_prefix.size()));
}

bool starts_with_word(std::string_view name, std::string_view word) {
  return name.size() >= word.size() &&
         std::equal(word.begin(), word.end(), name.begin(), [](char a, char b) { return a == lower(b); });
}

/// `Step 7`, `iter_7`, `BATCH: 7`: a word, separators, a number, nothing else.
bool is_counted_word(std::string_view name) {
  return std::any_of(std::begin(step_words), std::end(step_words), [name](std::string_view word) {
    if (!starts_with_word(name, word)) return false;
    const std::string_view rest = name.substr(word.size());
    const std::size_t number = rest.find_first_not_of(separators);
    return number != std::string_view::npos && is_number(rest.substr(number));
  });
}

/// Where the character after the one at `at` begins.
std::size_t next_character(std::string_view text, std::size_t at) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  ++at;
  while (at < text.size() && continues(text[at])) ++at;
  return at;
}

}  // namespace

// Only the last `*` is ever tried again: what an earlier one matched can stay the shortest.
bool matches_glob(std::string_view text, std::string_view glob) {
  std::size_t t = 0;
  std::size_t g = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && glob[g] == '?') {
      t = next_character(text, t);
      ++g;
    } else if (g < glob.size() && glob[g] == text[t]) {
      ++t;
      ++g;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = star_text = next_character(text, star_text);
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

StepPattern::StepPattern(timeline::StepNaming naming, std::optional<std::string> glob)
    : naming_(naming), glob_(std::move(glob)) {}

bool StepPattern::matches(std::string_view name) const {
  if (glob_) return matches_glob(name, *glob_);
  if (naming_ == timeline::StepNaming::profiler_step) return is_profiler_step(name);
  return name.starts_with(profiler_step_prefix) || is_counted_word(name);
}

}  // namespace traceweir::metrics
