// fails: no known conversion for argument 1 from 'uint32_t'
#include "analyzer/timeline/timeline.hpp"

using namespace traceweir::timeline;

const std::string& f(const Timeline& timeline) { return timeline.name(std::uint32_t{3}); }
