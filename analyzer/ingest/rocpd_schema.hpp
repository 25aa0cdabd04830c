// For: the tables of a rocpd database that we read, and how they are called in one: every name ends in the uuid of the
// capture. Not for: what the rows mean.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/sqlite_file.hpp"

namespace traceweir::ingest::rocpd {

inline constexpr std::string_view kernel_table = "rocpd_kernel_dispatch";
inline constexpr std::string_view copy_table = "rocpd_memory_copy";
inline constexpr std::string_view region_table = "rocpd_region";
inline constexpr std::string_view event_table = "rocpd_event";
inline constexpr std::string_view string_table = "rocpd_string";
inline constexpr std::string_view category_table = "rocpd_info_category";
inline constexpr std::string_view agent_table = "rocpd_info_agent";
inline constexpr std::string_view symbol_table = "rocpd_info_kernel_symbol";
inline constexpr std::string_view track_table = "rocpd_track";
inline constexpr std::string_view time_table = "rocpd_timestamp";
inline constexpr std::string_view metadata_table = "rocpd_metadata";

/// All that are ever read, as SqliteFile::open takes them. The views of the same names without uuid are not.
std::span<const std::string_view> readable_tables();

/// Whether one of them is there.
bool is_rocpd(const SqliteFile& file);

/// The names of the tables in one database.
class Capture {
 public:
  /// Errors: unsupported_format (tables of several captures, which were merged).
  static Result<Capture> of(const SqliteFile& file);
  /// `rocpd_event` → `rocpd_event_0000abcd_…`.
  [[nodiscard]] std::string table(std::string_view base) const { return std::string(base) + uuid_; }

 private:
  std::string uuid_;  ///< with its leading `_`
};

}  // namespace traceweir::ingest::rocpd
