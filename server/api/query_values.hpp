// For: typed values of a query's parameters, for the reading endpoints.
// Not for: the query of an upload (upload_query.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "gate/verdict.hpp"
#include "server/http/query.hpp"
#include "server/store/store.hpp"

namespace traceweir::api {

/// Errors: bad_query, naming the parameter and what was expected; absent is no error.
Result<std::optional<std::int64_t>> integer_in(const http::Query& query, std::string_view key, std::int64_t least,
                                               std::int64_t most);
/// Errors: bad_query.
Result<std::optional<store::Timestamp>> time_in(const http::Query& query, std::string_view key);
/// Errors: bad_query.
Result<std::optional<gate::Outcome>> outcome_in(const http::Query& query, std::string_view key);

}  // namespace traceweir::api
