// fails: ignoring returned value of type
#include "analyzer/core/error.hpp"

traceweir::Result<void> check(int n);

void f() { check(4); }
