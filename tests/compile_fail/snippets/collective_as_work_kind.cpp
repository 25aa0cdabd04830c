// fails: cannot convert
#include "analyzer/timeline/builder.hpp"

using namespace traceweir::timeline;

void f(WorkRow& row) { row.kind = Collective::allreduce; }
