// fails: cannot convert
#include "analyzer/timeline/timeline.hpp"

using namespace traceweir::timeline;

const std::string& f(const Timeline& timeline) { return timeline.name(std::uint32_t{3}); }
