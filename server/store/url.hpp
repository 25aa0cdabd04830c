// For: whether a store's address is well formed, before anything is opened. Not for: opening it (store.hpp).
#pragma once

#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::store {

/// Errors: bad_config, what was expected; no part of `url` that could be a password is named.
Result<void> check_url(std::string_view url);

}  // namespace traceweir::store
