#include "analyzer/ingest/format_table.hpp"

#include "analyzer/ingest/kineto_json.hpp"
#include "analyzer/ingest/nsys_sqlite.hpp"
#include "analyzer/ingest/sniff.hpp"

namespace traceweir::ingest {
namespace {

constexpr Format format_rows[] = {
    {"nsys_sqlite", &is_nsys_sqlite, &read_nsys_sqlite},
    {"kineto_json", &looks_like_json, &read_kineto_json},
};

}  // namespace

std::span<const Format> formats() { return format_rows; }

}  // namespace traceweir::ingest
