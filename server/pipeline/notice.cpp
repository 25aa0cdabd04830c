#include "server/pipeline/notice.hpp"

namespace traceweir::pipeline {

std::string_view word(Notice::Kind kind) { return kind == Notice::Kind::failed ? "failed" : "drift"; }

}  // namespace traceweir::pipeline
