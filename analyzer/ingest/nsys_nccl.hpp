// For: which collective the ranges of NCCL's NVTX domain name, and which of them launched a kernel. Kernels of RCCL and
// of NCCL that were not compiled for their collective carry no kind in their name (`ncclDevKernel_Generic`). Not for:
// names of kernels (collectives.hpp).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/ingest/nsys_processes.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest::nsys {

/// Whether `range` is named as a function of NCCL (`ncclAllReduce`, `ncclGroupEnd`, not `nccl_setup`).
bool is_nccl_call(std::string_view range);

/// What a range of this name calls: a collective (`ncclAllReduce`), the begin or end of a group; nothing for functions
/// that do not communicate.   Source: nccl.h.
std::optional<NcclRange> nccl_range_of(std::string_view name, std::int64_t thread, Interval span);

/// The ranges of one process.
/// Thread: immutable after construction.
class NcclRanges {
 public:
  explicit NcclRanges(std::vector<NcclRange> ranges);

  /// The innermost collective's range on the launch's thread that encloses it, or nullptr.
  /// Source: spec of formats, section 1.6.
  /// Cost:   O(log n); ranges of one thread nest at most a few deep.
  [[nodiscard]] const NcclRange* around(const NcclLaunch& launch) const;

  /// The same; where the library has no range there, the framework's.
  [[nodiscard]] const NcclRange* kind_around(const NcclLaunch& launch) const;

  /// The collective that was launched there: the one around it; of a launch in `ncclGroupEnd` the only one since the
  /// group was started. nullptr where a group holds several, of which nobody says what the one kernel is.
  [[nodiscard]] const NcclRange* call_of(const NcclLaunch& launch) const;

 private:
  [[nodiscard]] const NcclRange* innermost(const NcclLaunch& launch, NcclFunction function) const;
  [[nodiscard]] const NcclRange* only_call_of_group(const NcclRange& group_end) const;

  std::vector<NcclRange> ranges_;  ///< by (thread, begin)
};

}  // namespace traceweir::ingest::nsys
