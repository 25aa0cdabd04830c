// traceweir: the client and offline tool.
#include <malloc.h>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  // Columns of a large trace grow by moving: what they leave goes back at once, instead of filling up with what is
  // smaller. Left to itself, malloc stops doing so after the first one.
  constexpr int given_back_from_bytes = 4 << 20;
  ::mallopt(M_MMAP_THRESHOLD, given_back_from_bytes);
  // What is smaller stays for the next.
  constexpr int kept_bytes = 32 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kept_bytes);
  return traceweir::cli::run_commands(argc, argv);
}
