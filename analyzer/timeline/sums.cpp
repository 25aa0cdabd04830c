#include "analyzer/timeline/sums.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace traceweir::timeline {
namespace {

template <typename Rows>
Result<void> take(std::optional<Rows>& to, std::optional<Rows>& from, std::string_view what) {
  if (!from) return {};
  if (to)
    return fail(ErrorCode::malformed_trace,
                fmt::format("{} twice: one capture has one; give the output of each capture apart", what));
  to = std::move(from);
  return {};
}

}  // namespace

Result<void> add_tables(Sums& to, Sums from) {
  TRACEWEIR_TRY_VOID(take(to.kernels, from.kernels, "cuda_gpu_kern_sum"));
  TRACEWEIR_TRY_VOID(take(to.copies, from.copies, "cuda_gpu_mem_time_sum"));
  return take(to.copy_bytes, from.copy_bytes, "cuda_gpu_mem_size_sum");
}

}  // namespace traceweir::timeline
