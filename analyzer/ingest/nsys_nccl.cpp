#include "analyzer/ingest/nsys_nccl.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace traceweir::ingest::nsys {
namespace {

using timeline::Collective;

struct NcclCall {
  std::string_view name;
  Collective kind;
};
constexpr NcclCall nccl_calls[] = {
    {"ncclAllReduce", Collective::allreduce},
    {"ncclAllGather", Collective::allgather},
    {"ncclReduceScatter", Collective::reducescatter},
    {"ncclBroadcast", Collective::broadcast},
    {"ncclBcast", Collective::broadcast},
    {"ncclReduce", Collective::reduce},
    {"ncclAlltoAll", Collective::alltoall},
    {"ncclAllToAll", Collective::alltoall},
    {"ncclAllToAllv", Collective::alltoall},
    {"ncclSend", Collective::sendrecv},
    {"ncclRecv", Collective::sendrecv},
};

// How many ranges back a look-up goes: NCCL's own nest two deep, and a hostile file may nest a million.
constexpr int ranges_looked_at_max = 64;

bool range_order(const NcclRange& a, const NcclRange& b) {
  return std::tie(a.thread, a.span.begin) < std::tie(b.thread, b.span.begin);
}

}  // namespace

bool is_nccl_call(std::string_view range) {
  constexpr std::string_view prefix = "nccl";
  return range.size() > prefix.size() && range.starts_with(prefix) && range[prefix.size()] >= 'A' &&
         range[prefix.size()] <= 'Z';
}

std::optional<Collective> collective_of_nccl_call(std::string_view range) {
  if (!is_nccl_call(range)) return std::nullopt;
  for (const NcclCall& call : nccl_calls)
    if (call.name == range) return call.kind;
  return std::nullopt;
}

NcclRanges::NcclRanges(std::vector<NcclRange> ranges) : ranges_(std::move(ranges)) {
  std::stable_sort(ranges_.begin(), ranges_.end(), range_order);
}

std::optional<Collective> NcclRanges::around(const NcclLaunch& launch) const {
  const NcclRange key{launch.thread, launch.span, Collective::other};
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), key, range_order);
  for (int looked_at = 0; range != ranges_.begin() && looked_at < ranges_looked_at_max; ++looked_at) {
    --range;
    if (range->thread != launch.thread) break;
    if (range->span.end >= launch.span.end) return range->kind;
  }
  return std::nullopt;
}

}  // namespace traceweir::ingest::nsys
