// fails: cannot convert
#include "analyzer/timeline/timeline.hpp"

using namespace traceweir::timeline;

const Device& f(const Timeline& timeline, NameId name) { return timeline.device(name); }
