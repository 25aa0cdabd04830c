#include "cli/natural_order.hpp"

#include <algorithm>
#include <cstddef>

#include "analyzer/core/ascii.hpp"

namespace traceweir::cli {
namespace {

/// Cuts the digits off the front, without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return number;
}

}  // namespace

bool comes_before(std::string_view a, std::string_view b) {
  std::string_view x = a, y = b;
  while (!x.empty() && !y.empty()) {
    if (is_digit(x.front()) && is_digit(y.front())) {
      const std::string_view m = take_number(x), n = take_number(y);
      if (m.size() != n.size()) return m.size() < n.size();
      if (m != n) return m < n;
      continue;
    }
    if (x.front() != y.front()) return x.front() < y.front();
    x.remove_prefix(1);
    y.remove_prefix(1);
  }
  if (x.empty() != y.empty()) return x.empty();
  return a < b;  // they differ in leading zeros only
}

}  // namespace traceweir::cli
