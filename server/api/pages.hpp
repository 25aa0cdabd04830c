// For: the table of what people open in a browser: the dashboard's pages and their assets.
// Not for: the REST contract (routes.hpp), the files themselves (server/web).
#pragma once

#include <span>

#include "server/api/services.hpp"
#include "server/http/router.hpp"

namespace traceweir::api {

std::span<const http::Route<Services>> page_routes();

}  // namespace traceweir::api
