#include "command_line/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace traceweir::command_line {
namespace {

/// Where the words before the cursor lead.
struct Place {
  const Shape* command = nullptr;
  std::size_t positionals = 0;  ///< given so far
  std::vector<std::string> used;
  std::optional<Argument> waiting;  ///< an option whose value comes next
};

std::optional<Argument> option_named(const Place& place, std::string_view word) {
  for (const Argument& option : place.command->options)
    if (option.name == word || (!option.letter.empty() && option.letter == word)) return option;
  return std::nullopt;
}

void step(Place& place, const std::string& word) {
  if (place.waiting) {
    place.waiting.reset();
    return;
  }
  if (word.size() > 1 && word.front() == '-') {
    const auto option = option_named(place, word);
    if (!option) return;
    if (!option->value.empty()) place.waiting = option;
    if (!option->repeats) place.used.push_back(option->name);
    return;
  }
  for (const Shape& command : place.command->commands) {
    if (command.name != word) continue;
    place.command = &command;
    place.positionals = 0;
    return;
  }
  ++place.positionals;
}

void add(Candidates& found, std::string_view beginning, Candidate candidate) {
  if (candidate.word.starts_with(beginning)) found.words.push_back(std::move(candidate));
}

void add_values(Candidates& found, std::string_view beginning, const Argument& argument, const Values& values) {
  for (const std::string& choice : argument.choices) add(found, beginning, {choice, ""});
  if (!argument.choices.empty()) return;
  for (Candidate& value : values(argument.value)) add(found, beginning, std::move(value));
  found.files = argument.takes_files;
}

void add_options(Candidates& found, std::string_view beginning, const Place& place) {
  for (const Argument& option : place.command->options)
    if (std::find(place.used.begin(), place.used.end(), option.name) == place.used.end())
      add(found, beginning, {option.name, option.about});
}

/// A shell may cut `--option=value` into three words; this makes it two, as `--option value` is.
std::vector<std::string> without_signs(std::span<const std::string> words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "=")
      kept.push_back(words[i]);
    else if (i + 1 == words.size())
      kept.emplace_back();
  }
  return kept;
}

constexpr std::string_view bash_script =
    R"(# Completion of PROGRAM for bash. Made by `PROGRAM completion bash`; it asks the program itself for every word.
_PROGRAM() {
  local word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o default
    else
      COMPREPLY+=("$word")
    fi
  done < <("${1/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _PROGRAM PROGRAM
)";

constexpr std::string_view zsh_script = R"(#compdef PROGRAM
# Completion of PROGRAM for zsh. Made by `PROGRAM completion zsh`; it asks the program itself for every word.
_PROGRAM() {
  local word about files=
  local -a described
  while IFS=$'\t' read -r word about; do
    if [[ $word == :files ]]; then
      files=yes
    else
      described+=("${word//:/\\:}:$about")
    fi
  done < <("${~words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#described )) && _describe PROGRAM described
  if [[ -n $files ]]; then _files; fi
}
if [[ $funcstack[1] == _PROGRAM ]]; then
  _PROGRAM "$@"
else
  compdef _PROGRAM PROGRAM
fi
)";

constexpr std::string_view fish_script =
    R"(# Completion of PROGRAM for fish. Made by `PROGRAM completion fish`; it asks the program itself for every word.
function __PROGRAM_candidates
    set -l words (commandline -opc)
    for line in ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $line
        end
    end
end
complete -c PROGRAM -f -a '(__PROGRAM_candidates)'
)";

struct ScriptRow {
  std::string_view shell;
  std::string_view text;
};
constexpr ScriptRow scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

}  // namespace

Candidates candidates(const Shape& root, std::span<const std::string> words, const Values& values) {
  std::vector<std::string> kept = without_signs(words);
  if (kept.empty()) kept.emplace_back();
  const std::string beginning = kept.back();
  kept.pop_back();
  Place place;
  place.command = &root;
  for (const std::string& word : kept) step(place, word);

  Candidates found;
  if (place.waiting) {
    add_values(found, beginning, *place.waiting, values);
  } else if (beginning.starts_with('-')) {
    add_options(found, beginning, place);
  } else {
    for (const Shape& command : place.command->commands) add(found, beginning, {command.name, command.about});
    const std::vector<Argument>& positionals = place.command->positionals;
    if (positionals.empty()) return found;
    const Argument& next = positionals[std::min(place.positionals, positionals.size() - 1)];
    if (place.positionals < positionals.size() || next.repeats) add_values(found, beginning, next, values);
  }
  return found;
}

std::string to_lines(const Candidates& found) {
  std::string lines;
  for (const Candidate& candidate : found.words) lines += fmt::format("{}\t{}\n", candidate.word, candidate.about);
  if (found.files) lines += ":files\n";
  return lines;
}

Result<std::string> completion_script(std::string_view shell, const std::string& program) {
  constexpr std::string_view word = "PROGRAM";
  for (const ScriptRow& row : scripts) {
    if (row.shell != shell) continue;
    std::string text(row.text);
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += program.size())
      text.replace(at, word.size(), program);
    return text;
  }
  return fail(ErrorCode::usage, fmt::format("there are scripts for bash, zsh and fish, not for '{}'", shell));
}

}  // namespace traceweir::command_line
