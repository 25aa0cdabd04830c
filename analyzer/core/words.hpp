// For: tables that give an enumerator its one spelling (JSON, SQL, CLI, docs), both ways.
// Not for: tables that carry more than a word.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "analyzer/core/assert.hpp"

namespace traceweir {

/// One row of such a table.
template <typename Enum>
struct Word {
  Enum value;
  std::string_view word;
};

/// The word of `value`. A value that the table lacks is our bug.
template <typename Enum, std::size_t n>
std::string_view word_of(const Word<Enum> (&rows)[n], Enum value) {
  for (const auto& row : rows)
    if (row.value == value) return row.word;
  TRACEWEIR_ASSERT(!"every enumerator has a word");
}

/// The value of `word`, or nothing when the table has no such word.
template <typename Enum, std::size_t n>
std::optional<Enum> value_of(const Word<Enum> (&rows)[n], std::string_view word) {
  for (const auto& row : rows)
    if (row.word == word) return row.value;
  return std::nullopt;
}

}  // namespace traceweir
