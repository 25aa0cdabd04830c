// For: the tables of a Postgres store as rows (tables.hpp). Not for: the verbs of the domain (postgres_store.hpp).
#pragma once

#include <memory>
#include <string_view>

#include "server/store/tables.hpp"

namespace traceweir::store {

/// Errors: bad_config, store_unavailable (cannot be reached, is no store).
Result<std::unique_ptr<StoreSnapshot>> open_postgres_snapshot(std::string_view rest);

/// Errors: bad_config, store_unavailable, conflict (it is not empty): open_target() says when.
Result<std::unique_ptr<TableTarget>> open_postgres_target(std::string_view rest, std::int64_t version);

}  // namespace traceweir::store
