// For: the kernels of the modelled job: demangled names as profilers print them, and typical durations.
// Not for: communication kernels of other versions than one; the analyzer's table of collectives has its own tests.
#pragma once

#include <string_view>

#include "tools/make_trace/job.hpp"

namespace traceweir::make_trace {

struct Kernel {
  std::string_view name;        ///< demangled
  std::string_view short_name;  ///< what nsys keeps in shortName
  Ns time;
};

inline constexpr Kernel forward_kernels[] = {
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     520'000},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float const*, "
     "float const*, float const*, float*, float*, float*)",
     "vectorized_layer_norm_kernel", 130'000},
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>, false, true, "
     "false>(Flash_fwd_params)",
     "flash_fwd_kernel", 410'000},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
     "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, at::detail::Array<char*, 3>)",
     "vectorized_elementwise_kernel", 90'000},
};

/// Of forward_kernels the one that Job::slow_kernel_factor is about.
inline constexpr std::string_view slow_kernel = "flash_fwd_kernel";

/// The kernel of Job::extra_kernels.
inline constexpr Kernel extra_kernel = {
    "void at::native::(anonymous namespace)::fused_dropout_kernel<float, float, unsigned int, 1, 4, "
    "bool>(at::cuda::detail::TensorInfo<float const, unsigned int>, float, at::PhiloxCudaState)",
    "fused_dropout_kernel", 160'000};

inline constexpr Kernel backward_kernels[] = {
    {"void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8, cutlass::bfloat16_t>, "
     "false, true>(Flash_bwd_params)",
     "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", 760'000},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     690'000},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
     "float>, unsigned int, float, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, "
     "unsigned int, float, 4>)",
     "reduce_kernel", 150'000},
};

inline constexpr Kernel optimizer_kernels[] = {
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, "
     "4> >(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)",
     "multi_tensor_apply_kernel", 240'000},
};

inline constexpr Kernel allreduce_kernel = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                                            "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0};

inline constexpr Kernel all_kernels[] = {
    forward_kernels[0],  forward_kernels[1],  forward_kernels[2],   forward_kernels[3], backward_kernels[0],
    backward_kernels[1], backward_kernels[2], optimizer_kernels[0], allreduce_kernel,   extra_kernel};

/// Shape: never empty; a kernel that the table lacks keeps its name.
constexpr std::string_view short_name_of(std::string_view name) {
  for (const Kernel& kernel : all_kernels)
    if (kernel.name == name) return kernel.short_name;
  return name;
}

}  // namespace traceweir::make_trace
