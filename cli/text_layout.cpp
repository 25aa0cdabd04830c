#include "cli/text_layout.hpp"

#include <algorithm>

#include "analyzer/report/quantities.hpp"

namespace traceweir::cli {

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t used = report::width_of(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string wrapped(std::string_view first, std::string_view text, std::size_t width) {
  std::string lines(first);
  if (width == 0) return lines + std::string(text) + "\n";
  const std::size_t indent = report::width_of(first);
  std::size_t column = indent;
  bool at_begin = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t cells = report::width_of(word);
    if (!at_begin && column + 1 + cells > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
      at_begin = true;
    }
    lines += (at_begin ? "" : " ") + std::string(word);
    column += cells + (at_begin ? 0 : 1);
    at_begin = false;
  }
  return lines + "\n";
}

}  // namespace traceweir::cli
