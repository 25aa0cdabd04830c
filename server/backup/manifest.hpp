// For: what a backup says of itself, at the end of its archive, so that one that was cut off has none.
// Not for: the rest of the archive (archive.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/store/copy_tables.hpp"
#include "server/store/tables.hpp"

namespace traceweir::backup {

struct BackedUpTable {
  store::TableShape shape;
  store::TableDigest digest;
};

enum class Traces { with, without };

struct Manifest {
  std::string program_version;
  std::int64_t store_version = 0;  ///< the number of migrations that made the tables
  std::string taken_at;            ///< RFC 3339
  std::vector<BackedUpTable> tables;
  Traces traces = Traces::with;
  std::int64_t blobs = 0;  ///< that are in the archive
  std::uint64_t blob_bytes = 0;
  std::vector<std::string> missing;  ///< SHA-256 of those that are lost: the rows say that they are kept
  std::vector<std::string> damaged;  ///< of those in the archive whose bytes are others than their name says
};

inline constexpr std::string_view manifest_schema = "traceweir.backup/1";

std::string to_json(const Manifest& manifest);

/// Errors: bad_body, naming the key.
Result<Manifest> manifest_of(std::string_view json);

}  // namespace traceweir::backup
