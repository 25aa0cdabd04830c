#include "command_line/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyzer/core/text.hpp"

extern char** environ;  // NOLINT: POSIX's own name

namespace traceweir::command_line {
namespace {

/// How many letters have to be changed, added or left out to make one of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = i;
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string sentence_about(const std::string& name, const std::vector<std::string>& read) {
  const auto nearest = std::min_element(
      read.begin(), read.end(), [&](const auto& a, const auto& b) { return distance(name, a) < distance(name, b); });
  constexpr std::size_t typo_max = 3;
  const bool is_typo = nearest != read.end() && distance(name, *nearest) <= typo_max;
  return fmt::format("the variable {} is read by nobody{}", clean_text(name, 80),
                     is_typo ? fmt::format("; did you mean {}?", *nearest) : "");
}

}  // namespace

std::vector<std::string> unread_variables(const std::vector<std::string>& read,
                                          std::span<const std::string_view> of_others) {
  std::vector<std::string> sentences;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string name(text.substr(0, text.find('=')));
    const bool is_known = std::find(read.begin(), read.end(), name) != read.end() ||
                          std::find(of_others.begin(), of_others.end(), name) != of_others.end();
    if (name.starts_with("TRACEWEIR_") && !is_known) sentences.push_back(sentence_about(name, read));
  }
  std::sort(sentences.begin(), sentences.end());
  return sentences;
}

}  // namespace traceweir::command_line
