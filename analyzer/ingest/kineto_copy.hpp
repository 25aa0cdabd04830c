// For: what the name of a Kineto memory row says about the copy. Not for: its size and time.
#pragma once

#include <string_view>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// A copy or a memset. Shape: `name` is ours and the same in all formats ("Memcpy HtoD").
struct CopyShape {
  std::string_view name;
  timeline::Direction direction = timeline::Direction::none;
  timeline::HostMemory host_memory = timeline::HostMemory::unknown;
  bool peer = false;  ///< between two devices: communication
};

/// `Memcpy HtoD (Pageable -> Device)`. ROCm writes `Host` and does not say which kind: unknown, as is managed memory.
CopyShape copy_shape(std::string_view name);

CopyShape memset_shape();

}  // namespace traceweir::ingest
