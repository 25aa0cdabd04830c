#include "analyzer/ingest/kernel_name.hpp"

#include <algorithm>

#include "analyzer/core/ascii.hpp"

namespace traceweir::ingest {
namespace {

constexpr std::string_view anonymous = "(anonymous namespace)";

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

/// The last identifier of an Itanium-mangled name: `_Z9my_kernelPfS_`, `_ZN3foo3barEv`.
KernelName of_mangled(std::string_view text) {
  std::string_view rest = text.substr(2);
  const bool nested = rest.starts_with('N');
  if (nested) rest.remove_prefix(1);
  std::string_view found;
  while (!rest.empty() && is_digit(rest.front())) {
    std::size_t length = 0;
    for (; !rest.empty() && is_digit(rest.front()) && length < text.size(); rest.remove_prefix(1))
      length = length * 10 + static_cast<std::size_t>(rest.front() - '0');
    if (length == 0 || length > rest.size()) break;
    found = rest.substr(0, length);
    rest.remove_prefix(length);
    if (!nested) break;
  }
  if (found.empty()) return {{}, text};
  return {text.substr(0, static_cast<std::size_t>(found.data() - text.data())), found};
}

/// Where the parameter list begins: the first parenthesis outside template arguments that is no anonymous namespace.
std::size_t end_of_signature(std::string_view text) {
  int angles = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++angles;
    if (text[i] == '>') angles = std::max(0, angles - 1);
    if (text[i] != '(') continue;
    if (text.substr(i).starts_with(anonymous))
      i += anonymous.size() - 1;
    else if (angles == 0)
      return i;
  }
  return text.size();
}

/// `text` without template arguments at its end.
std::string_view without_template_arguments(std::string_view text) {
  if (!text.ends_with('>')) return text;
  int angles = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == '>') ++angles;
    if (text[i] == '<' && --angles == 0) return text.substr(0, i);
  }
  return text.substr(0, text.find('<'));
}

}  // namespace

KernelName kernel_name_of(std::string_view text) {
  text = text.substr(0, text.find(" [clone "));
  if (text.ends_with(".kd")) text.remove_suffix(3);
  if (text.starts_with("_Z")) return of_mangled(text);
  std::string_view name = without_template_arguments(text.substr(0, end_of_signature(text)));
  std::size_t first = name.size();
  while (first > 0 && is_identifier(name[first - 1])) --first;
  const std::string_view identifier = name.substr(first);
  std::string_view scope = name.substr(0, first);
  // "void a::b::" → "a::b::"; a name with a path or blanks in it has no scope that means something.
  const std::size_t blank = scope.rfind(' ');
  if (blank != std::string_view::npos && !scope.substr(0, blank + 1).ends_with("(anonymous "))
    scope.remove_prefix(blank + 1);
  const bool qualified = scope.empty() || scope.ends_with("::");
  return qualified ? KernelName{scope, identifier} : KernelName{};
}

}  // namespace traceweir::ingest
