// fails: cannot convert
#include "analyzer/core/time.hpp"

std::int64_t f(traceweir::Nanos time) { return time; }
