// For: the table of formats. Adding a format is a pair of files and a row here. Not for: telling what is no trace
// (sniff.hpp).
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/inflate.hpp"
#include "analyzer/ingest/ingest.hpp"

namespace traceweir::ingest {

/// A file that is about to be read: where it is, what its first bytes are after decompression.
struct TraceFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;    ///< of the file as it is
  Compression compression{};  ///< of its outer layer
  std::string_view head;      ///< the first inflated bytes (up to head_bytes_max)
};
inline constexpr std::size_t head_bytes_max = 4096;

/// One format.
struct Format {
  std::string_view name;  ///< `kineto_json`: also the word in reports
  bool (*matches)(std::string_view head);
  Result<std::vector<timeline::Timeline>> (*read)(const TraceFile& file, const ReadLimits& limits);
};

/// All formats, tried in order; the first match reads.
std::span<const Format> formats();

}  // namespace traceweir::ingest
