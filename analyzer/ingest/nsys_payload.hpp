// For: what NCCL says of its calls in NVTX payloads: message sizes, and how many ranks a communicator has. Exports hold
// the payloads only where they were made with `--include-blobs=true`.
// Not for: which kernel a call launched (nsys_nccl.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/sqlite_file.hpp"

namespace traceweir::ingest::nsys {

/// One payload. Units: bytes, per call as NCCL counts them (count × type of the call's own argument).
struct NcclPayload {
  std::uint64_t communicator = 0;
  std::optional<std::int64_t> bytes;  ///< of calls that communicate
  std::optional<std::int64_t> ranks;  ///< of calls that make a communicator
};

/// Where the fields of one schema lie. Units: bytes from the payload's start.
struct PayloadLayout {
  std::optional<std::size_t> communicator;
  std::optional<std::size_t> bytes;
  std::optional<std::size_t> ranks;
};

/// The schemas of a file: those that it registers, else NCCL's own as they have been since 2.18.
/// Thread: immutable after reading.
class PayloadSchemas {
 public:
  /// Errors: malformed_trace, io_failed.
  static Result<PayloadSchemas> read(SqliteFile& file);

  /// What `blob` (NVTX_EVENTS.binaryData) says; nothing where it is no payload of NCCL's or is cut off.
  /// Shape:  a header of four little-endian u64 (domain, schema, size, offset), then the payload.
  /// Source: spec of formats, section 1.7.
  [[nodiscard]] std::optional<NcclPayload> decode(std::string_view blob) const;

 private:
  std::map<std::uint64_t, PayloadLayout> layouts_;
};

}  // namespace traceweir::ingest::nsys
