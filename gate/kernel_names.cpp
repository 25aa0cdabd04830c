#include "gate/kernel_names.hpp"

#include <algorithm>

#include "analyzer/core/ascii.hpp"

namespace traceweir::gate {
namespace {

bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr std::string_view anonymous = "(anonymous namespace)::";

/// Where the parameter list begins: the first bracket outside template arguments that is no anonymous namespace.
std::size_t parameters_of(std::string_view name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && depth > 0) --depth;
    if (name[i] != '(' || depth > 0 || i == 0) continue;
    if (name.substr(i).starts_with(anonymous))
      i += anonymous.size() - 1;
    else
      return i;
  }
  return name.size();
}

std::string without(std::string_view name, std::string_view part) {
  std::string out(name);
  for (std::size_t at = out.find(part); at != std::string::npos; at = out.find(part, at)) out.erase(at, part.size());
  return out;
}

/// Numbers inside template arguments become one letter: tile sizes and vector widths are tuning, not another kernel.
std::string with_plain_arguments(std::string_view name) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<') ++depth;
    if (c == '>' && depth > 0) --depth;
    const bool number = depth > 0 && is_digit(c);
    if (!number)
      out += c;
    else if (i == 0 || !is_digit(name[i - 1]))
      out += 'N';
  }
  return out;
}

/// `fused_add_12` is one of many that a compiler has numbered; the number of `conv2` is a part of its name.
std::string_view without_number(std::string_view name) {
  std::string_view kept = name;
  while (!kept.empty() && is_digit(kept.back())) kept.remove_suffix(1);
  const bool numbered = kept.size() < name.size() && !kept.empty() && (kept.back() == '_' || kept.back() == '.');
  if (!numbered) return name;
  while (!kept.empty() && (kept.back() == '_' || kept.back() == '.')) kept.remove_suffix(1);
  return kept.empty() ? name : kept;
}

}  // namespace

std::string normalised_kernel(std::string_view name) {
  std::string_view kept = name.substr(0, parameters_of(name));
  if (kept.starts_with("void ")) kept.remove_prefix(5);
  while (!kept.empty() && kept.back() == ' ') kept.remove_suffix(1);
  const std::string plain = with_plain_arguments(without(kept, anonymous));
  const std::string out(without_number(plain));
  return out.empty() ? std::string(name) : out;
}

std::string_view short_kernel(std::string_view normalised) {
  std::string_view kept = normalised.substr(0, normalised.find('<'));
  const std::size_t scope = kept.rfind("::");
  if (scope != std::string_view::npos) kept.remove_prefix(scope + 2);
  const bool named = std::any_of(kept.begin(), kept.end(), &is_word);
  return named ? kept : normalised;
}

}  // namespace traceweir::gate
