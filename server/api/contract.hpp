// For: the REST contract as one JSON document. Its text is schema/http/openapi.yaml, embedded at build time.
// Not for: editing.
#pragma once

#include <string_view>

namespace traceweir::api {

extern const std::string_view openapi_json;

}  // namespace traceweir::api
