// What the name of a CUDA or HIP call tells.
#include <algorithm>
#include <array>

#include "analyzer/timeline/builder.hpp"

namespace traceweir::timeline {
namespace {

constexpr std::string_view stream_tails[] = {"_ptsz", "_ptds"};

constexpr std::string_view synchronising_calls[] = {
    "cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
    "cuCtxSynchronize",      "cuStreamSynchronize",   "cuEventSynchronize",    "hipDeviceSynchronize",
    "hipCtxSynchronize",     "hipStreamSynchronize",  "hipEventSynchronize",
};

constexpr std::string_view copy_prefixes[] = {"cudaMemcpy", "cuMemcpy", "hipMemcpy"};

constexpr std::string_view allocation_prefixes[] = {"cudaMalloc", "cudaFree", "cuMemAlloc",  "cuMemFree",
                                                    "hipMalloc",  "hipFree",  "hipExtMalloc"};

/// The length of a `_v7000` at the end of `name`; 0: there is none.
std::size_t version_tail(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool digits = last != std::string_view::npos && last + 1 < name.size();
  return digits && last > 1 && name[last] == 'v' && name[last - 1] == '_' ? name.size() - last + 1 : 0;
}

std::size_t stream_tail(std::string_view name) {
  for (const std::string_view tail : stream_tails)
    if (name.size() > tail.size() && name.ends_with(tail)) return tail.size();
  return 0;
}

template <std::size_t n>
bool starts_with_any(std::string_view name, const std::string_view (&prefixes)[n]) {
  return std::any_of(prefixes, prefixes + n, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

}  // namespace

std::string_view api_name(std::string_view name) {
  // Tails come in either order and more than once (`cudaGetDeviceProperties_v2_v12000`).
  while (const std::size_t tail = std::max(version_tail(name), stream_tail(name))) name.remove_suffix(tail);
  return name;
}

bool is_blocking_call(std::string_view api_name) {
  const auto last = std::end(synchronising_calls);
  if (std::find(std::begin(synchronising_calls), last, api_name) != last) return true;
  return starts_with_any(api_name, copy_prefixes) && !contains(api_name, "Async");
}

bool is_allocation_call(std::string_view api_name) {
  return starts_with_any(api_name, allocation_prefixes) && !contains(api_name, "Host");
}

}  // namespace traceweir::timeline
