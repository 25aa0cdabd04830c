// fails: no match for 'operator+'
#include "analyzer/core/time.hpp"

traceweir::Nanos f(traceweir::Nanos time) { return time + std::int64_t{5}; }
