// fails: cannot convert
#include "analyzer/timeline/timeline.hpp"

using namespace traceweir::timeline;

const std::string& f(const Timeline& timeline, ThreadIndex thread) { return timeline.name(thread); }
