#include "analyzer/ingest/rocpd_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace traceweir::ingest::rocpd {
namespace {

constexpr std::string_view tables[] = {
    "rocpd_kernel_dispatch_*", "rocpd_memory_copy_*",   "rocpd_region_*",     "rocpd_event_*",
    "rocpd_string_*",          "rocpd_info_category_*", "rocpd_info_agent_*", "rocpd_info_kernel_symbol_*",
    "rocpd_track_*",           "rocpd_timestamp_*",     "rocpd_metadata_*",
};

/// The uuids at the ends of the readable tables' names.
std::set<std::string> uuids_of(const SqliteFile& file) {
  std::set<std::string> uuids;
  for (const std::string& table : file.tables()) {
    if (!file.has_table(table)) continue;
    for (std::string_view base : tables) {
      base.remove_suffix(any_uuid.size());
      const bool fits = table.size() > base.size() && table.starts_with(base) && table[base.size()] == '_';
      if (fits) uuids.insert(table.substr(base.size()));
    }
  }
  return uuids;
}

}  // namespace

std::span<const std::string_view> readable_tables() { return tables; }

bool is_rocpd(const SqliteFile& file) { return !uuids_of(file).empty(); }

Result<Capture> Capture::of(const SqliteFile& file) {
  const auto uuids = uuids_of(file);
  if (uuids.size() > 1)
    return fail(ErrorCode::unsupported_format,
                fmt::format("the rocpd database holds {} captures that were merged; give the database of each process "
                            "as a file of its own",
                            uuids.size()));
  Capture capture;
  if (!uuids.empty()) capture.uuid_ = *uuids.begin();
  return capture;
}

}  // namespace traceweir::ingest::rocpd
