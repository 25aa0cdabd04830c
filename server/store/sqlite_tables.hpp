// For: the tables of a SQLite store as rows (tables.hpp). Not for: the verbs of the domain (sqlite_store.hpp).
#pragma once

#include <memory>
#include <string_view>

#include "server/store/tables.hpp"

namespace traceweir::store {

/// Errors: store_unavailable (cannot be opened, is no store).
Result<std::unique_ptr<StoreSnapshot>> open_sqlite_snapshot(std::string_view path);

/// Errors: store_unavailable, conflict (it is not empty): open_target() says when.
Result<std::unique_ptr<TableTarget>> open_sqlite_target(std::string_view path, std::int64_t version);

}  // namespace traceweir::store
