// For: the service's log: one JSON object per line on stderr. Every text in it is clean (core/text.hpp) and no secret
// is ever handed to it. Not for: results (stdout) or the access of a client to its own errors (problem+json).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "server/http/access.hpp"

namespace traceweir::app {

enum class LogLevel { info, warning, error };

using LogFields = std::initializer_list<std::pair<std::string_view, std::string>>;

/// Shape: {"time":"…","level":"info","event":"started",…}
/// Thread: any.
void log(LogLevel level, std::string_view event, LogFields fields = {});

/// One line per request.
void log_access(const http::AccessRecord& record);

}  // namespace traceweir::app
