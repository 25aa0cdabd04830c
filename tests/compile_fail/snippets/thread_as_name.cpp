// fails: no known conversion for argument 1 from 'traceweir::timeline::ThreadIndex'
#include "analyzer/timeline/timeline.hpp"

using namespace traceweir::timeline;

const std::string& f(const Timeline& timeline, ThreadIndex thread) { return timeline.name(thread); }
