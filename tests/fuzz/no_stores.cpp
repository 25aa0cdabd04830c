// Reading a configuration opens no store: where fuzz targets are built, the stores are not.
#include "server/store/postgres_store.hpp"
#include "server/store/sqlite_store.hpp"

namespace traceweir::store {

Result<std::unique_ptr<Store>> open_sqlite_store(std::string_view /*path*/, Opening /*opening*/) {
  return fail(ErrorCode::store_unavailable, "none is linked");
}
Result<std::unique_ptr<Store>> open_postgres_store(std::string_view /*rest*/, Opening /*opening*/) {
  return fail(ErrorCode::store_unavailable, "none is linked");
}

}  // namespace traceweir::store
