// fails: cannot convert
// Why: an Error is not a value; a function that promises an int cannot return one by accident.
#include "analyzer/core/error.hpp"

int half() { return traceweir::fail(traceweir::ErrorCode::usage, "n: odd"); }
