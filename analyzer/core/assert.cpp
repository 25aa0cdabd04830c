#include "analyzer/core/assert.hpp"

#include <cstdio>
#include <stdexcept>

namespace traceweir {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "traceweir: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  throw std::logic_error(condition);
}

}  // namespace traceweir
