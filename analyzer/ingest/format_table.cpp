#include "analyzer/ingest/format_table.hpp"

#include "analyzer/ingest/kineto_json.hpp"
#include "analyzer/ingest/nsys_stats.hpp"
#include "analyzer/ingest/nsys_stats_tables.hpp"
#include "analyzer/ingest/sniff.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/ingest/sqlite_trace.hpp"
#include "analyzer/ingest/stated_json.hpp"

namespace traceweir::ingest {
namespace {

constexpr Format format_rows[] = {
    {"sqlite", &is_sqlite, &read_sqlite_trace},
    {"nsys_stats", &looks_like_nsys_stats, &read_nsys_stats},
    {"metrics_json", &is_stated_json, &read_stated_json},
    {"kineto_json", &looks_like_json, &read_kineto_json},
};

}  // namespace

std::span<const Format> formats() { return format_rows; }

}  // namespace traceweir::ingest
