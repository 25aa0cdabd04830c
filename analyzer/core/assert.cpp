#include "analyzer/core/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace traceweir {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "traceweir: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace traceweir
