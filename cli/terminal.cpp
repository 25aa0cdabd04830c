#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace traceweir::cli {
namespace {

constexpr std::size_t columns_min = 24, columns_max = 500, columns_usual = 80;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

bool is_dumb(std::string_view term) { return term.empty() || term == "dumb"; }

}  // namespace

report::Paint paint_of_stdout() {
  const bool plain = !variable("NO_COLOR").empty() || is_dumb(variable("TERM")) || !stdout_is_terminal();
  return plain ? report::Paint::plain : report::Paint::colour;
}

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) != 0; }

std::size_t columns_of_stdout() {
  std::size_t columns = 0;
  winsize size{};
  const std::string_view said = variable("COLUMNS");
  if (stdout_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  if (columns == 0) std::from_chars(said.data(), said.data() + said.size(), columns);
  return columns == 0 ? columns_usual : std::clamp(columns, columns_min, columns_max);
}

bool shows_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = variable(name);
    if (locale.empty()) continue;
    const bool utf8 = locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
    return utf8 && !(stdout_is_terminal() && is_dumb(variable("TERM")));
  }
  return false;
}

std::size_t width_of_stdout() { return stdout_is_terminal() ? columns_of_stdout() : 0; }

}  // namespace traceweir::cli
