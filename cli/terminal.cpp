#include "cli/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace traceweir::cli {

report::Paint paint_of_stdout() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool plain = (no_color != nullptr && *no_color != '\0') || term == nullptr ||
                     std::string_view(term) == "dumb" || isatty(STDOUT_FILENO) == 0;
  return plain ? report::Paint::plain : report::Paint::colour;
}

}  // namespace traceweir::cli
