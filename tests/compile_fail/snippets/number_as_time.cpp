// fails: could not convert
#include "analyzer/core/time.hpp"

traceweir::Nanos f(std::int64_t number) { return number; }
