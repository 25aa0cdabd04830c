// For: which collective the ranges of NCCL's NVTX domain name. Kernels of RCCL and of NCCL that were not compiled for
// their collective carry no kind in their name (`ncclDevKernel_Generic`).
// Not for: names of kernels (collectives.hpp).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/ingest/nsys_processes.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest::nsys {

/// Whether `range` is named as a function of NCCL (`ncclAllReduce`, `ncclGroupEnd`, not `nccl_setup`).
bool is_nccl_call(std::string_view range);

/// What `ncclAllReduce` does; nothing for functions that do not communicate or hold several (`ncclGroupEnd`).
/// Source: nccl.h.
std::optional<timeline::Collective> collective_of_nccl_call(std::string_view range);

/// The ranges of one process.
/// Thread: immutable after construction.
class NcclRanges {
 public:
  explicit NcclRanges(std::vector<NcclRange> ranges);

  /// The kind of the innermost range on the launch's thread that encloses it.
  /// Source: spec of formats, section 1.6.
  /// Cost:   O(log n); ranges of one thread nest at most a few deep.
  [[nodiscard]] std::optional<timeline::Collective> around(const NcclLaunch& launch) const;

 private:
  std::vector<NcclRange> ranges_;  ///< by (thread, begin)
};

}  // namespace traceweir::ingest::nsys
