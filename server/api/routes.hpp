// For: the table of routes. Adding an endpoint is a file of this room and a row there.
// Not for: what a route does (handlers.hpp).
#pragma once

#include <span>

#include "server/api/services.hpp"
#include "server/http/router.hpp"

namespace traceweir::api {

std::span<const http::Route<Services>> routes();

}  // namespace traceweir::api
