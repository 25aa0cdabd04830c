#include "analyzer/ingest/format_table.hpp"

#include "analyzer/ingest/kineto_json.hpp"
#include "analyzer/ingest/nsys_sqlite.hpp"
#include "analyzer/ingest/sniff.hpp"
#include "analyzer/ingest/unpack.hpp"

namespace traceweir::ingest {
namespace {

/// SQLite seeks, so that a compressed export is inflated to a file first.
Result<std::vector<timeline::Timeline>> read_nsys(const TraceFile& file, const ReadLimits& limits) {
  if (file.compression == Compression::none) return read_nsys_sqlite(file, limits);
  TRACEWEIR_TRY(unpacked, UnpackedFile::of(file.path, limits));
  TraceFile plain = file;
  plain.path = unpacked.path();
  return read_nsys_sqlite(plain, limits);
}

constexpr Format format_rows[] = {
    {"nsys_sqlite", &is_nsys_sqlite, &read_nsys},
    {"kineto_json", &looks_like_json, &read_kineto_json},
};

}  // namespace

std::span<const Format> formats() { return format_rows; }

}  // namespace traceweir::ingest
