#include "analyzer/ingest/sqlite_trace.hpp"

#include "analyzer/ingest/nsys_schema.hpp"
#include "analyzer/ingest/nsys_sqlite.hpp"
#include "analyzer/ingest/rocpd_schema.hpp"
#include "analyzer/ingest/rocpd_sqlite.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/ingest/sqlite_header.hpp"

namespace traceweir::ingest {

Result<std::vector<timeline::Timeline>> read_sqlite_trace(TraceInput& input) {
  if (!input.path().empty()) TRACEWEIR_TRY_VOID(check_journals(input.path()));
  TRACEWEIR_TRY(descriptor, input.file_to_seek_in());
  SqliteLimits limits;
  limits.file_bytes_max = input.limits().inflated_bytes_max;
  std::vector<std::string_view> readable(nsys::readable_tables().begin(), nsys::readable_tables().end());
  readable.insert(readable.end(), rocpd::readable_tables().begin(), rocpd::readable_tables().end());
  TRACEWEIR_TRY(db, SqliteFile::open(descriptor, readable, limits));
  const bool is_rocpd = rocpd::is_rocpd(db);
  TRACEWEIR_TRY(ranks, is_rocpd ? read_rocpd_sqlite(db) : read_nsys_sqlite(db));
  for (timeline::Timeline& rank : ranks) rank.source.format = is_rocpd ? "rocpd_sqlite" : "nsys_sqlite";
  return std::move(ranks);
}

}  // namespace traceweir::ingest
