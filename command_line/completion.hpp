// For: what may stand at the cursor of a command line, and the scripts that let shells ask for it. The scripts hold no
// word of the command line: they ask the program that is there, so that they cannot be out of date.
// Not for: parsing, values that only the service knows.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "command_line/shape.hpp"

namespace traceweir::command_line {

struct Candidate {
  std::string word;
  std::string about;  ///< one line; may be empty
};

/// What may stand at the cursor.
struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  ///< names of files too
};

/// Values of a kind that the program knows, by what stands for them in help texts (`METRIC`); none: empty.
using Values = std::function<std::vector<Candidate>(std::string_view kind)>;

/// `words`: those behind the program's name up to the cursor; the last one is the beginning of what is wanted.
Candidates candidates(const Shape& root, std::span<const std::string> words, const Values& values);

/// One `word<TAB>about` line each, and `:files` where names of files fit.
std::string to_lines(const Candidates& found);

/// Errors: usage (no such shell; there are bash, zsh and fish).
Result<std::string> completion_script(std::string_view shell, const std::string& program);

/// The word in front of the words that a script asks about: `traceweir __complete gate --js`.
inline constexpr std::string_view completion_word = "__complete";

}  // namespace traceweir::command_line
