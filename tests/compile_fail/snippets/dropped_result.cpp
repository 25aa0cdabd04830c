// fails: ignoring returned value of type
#include "analyzer/core/error.hpp"

traceweir::Result<int> half(int n);

void f() { half(4); }
