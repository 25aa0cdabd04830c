// For: the table of routes. Adding an endpoint is a file of this room and a row there.
// Not for: what a route does (handlers.hpp).
#pragma once

#include <span>

#include "server/api/services.hpp"
#include "server/http/router.hpp"

namespace traceweir::api {

std::span<const http::Route<Services>> routes();

/// What those who watch a process ask, of a service beside its API and of a worker alone.
std::span<const http::Route<Services>> monitoring_routes();

}  // namespace traceweir::api
