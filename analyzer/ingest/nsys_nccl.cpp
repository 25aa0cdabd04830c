#include "analyzer/ingest/nsys_nccl.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/ingest/collectives.hpp"

namespace traceweir::ingest::nsys {
namespace {

using timeline::Collective;

struct NcclCall {
  std::string_view name;
  Collective kind;
  NcclFunction function = NcclFunction::collective;
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
    {"ncclGroupStart", Collective::other, NcclFunction::group_start},
    {"ncclGroupEnd", Collective::other, NcclFunction::group_end},
};

/// PyTorch: `nccl:_all_gather_base`.
constexpr std::string_view framework_prefix = "nccl:";

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

std::optional<NcclRange> nccl_range_of(std::string_view name, std::int64_t thread, Interval span) {
  if (name.starts_with(framework_prefix)) {
    const auto kind = collective_of_word(name.substr(framework_prefix.size()));
    if (!kind) return std::nullopt;
    return NcclRange{.thread = thread, .span = span, .function = NcclFunction::framework, .kind = *kind};
  }
  if (!is_nccl_call(name)) return std::nullopt;
  for (const NcclCall& call : nccl_calls)
    if (call.name == name)
      return NcclRange{.thread = thread, .span = span, .function = call.function, .kind = call.kind};
  return std::nullopt;
}

NcclRanges::NcclRanges(std::vector<NcclRange> ranges) : ranges_(std::move(ranges)) {
  std::stable_sort(ranges_.begin(), ranges_.end(), range_order);
}

const NcclRange* NcclRanges::around(const NcclLaunch& launch) const {
  return innermost(launch, NcclFunction::collective);
}

const NcclRange* NcclRanges::kind_around(const NcclLaunch& launch) const {
  const NcclRange* const call = around(launch);
  return call != nullptr ? call : innermost(launch, NcclFunction::framework);
}

const NcclRange* NcclRanges::call_of(const NcclLaunch& launch) const {
  if (const NcclRange* const call = around(launch)) return call;
  const NcclRange* const group_end = innermost(launch, NcclFunction::group_end);
  return group_end == nullptr ? nullptr : only_call_of_group(*group_end);
}

const NcclRange* NcclRanges::innermost(const NcclLaunch& launch, NcclFunction function) const {
  const NcclRange key{.thread = launch.thread, .span = launch.span};
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), key, range_order);
  for (int looked_at = 0; range != ranges_.begin() && looked_at < ranges_looked_at_max; ++looked_at) {
    --range;
    if (range->thread != launch.thread) break;
    if (range->span.end >= launch.span.end && range->function == function) return &*range;
  }
  return nullptr;
}

const NcclRange* NcclRanges::only_call_of_group(const NcclRange& group_end) const {
  auto range = ranges_.begin() + (&group_end - ranges_.data());
  const NcclRange* only = nullptr;
  int open = 1;  // groups nest
  for (int looked_at = 0; range != ranges_.begin() && looked_at < ranges_looked_at_max; ++looked_at) {
    --range;
    if (range->thread != group_end.thread) return nullptr;
    if (range->function == NcclFunction::group_end) ++open;
    if (range->function == NcclFunction::group_start && --open == 0) return only;
    if (range->function != NcclFunction::collective) continue;
    if (only != nullptr) return nullptr;
    only = &*range;
  }
  return nullptr;
}

}  // namespace traceweir::ingest::nsys
