#include <doctest/doctest.h>

#include <optional>

#include "analyzer/ingest/collectives.hpp"
#include "analyzer/ingest/kernel_name.hpp"

namespace ti = traceweir::ingest;
using traceweir::timeline::Collective;

// Why: a kernel that is taken for communication, or is not, moves its whole time between the two halves of a report.
TEST_CASE("collective_of_kernel: every family, and the liars") {
  struct Row {
    const char* kernel;
    std::optional<Collective> want;
  };
  const std::optional<Collective> compute;
  const Row rows[] = {
      // NCCL through the years
      {"AllReduceKernel<256, 8, FuncSum<float>, float>(KernelArgs<float>)", Collective::allreduce},
      {"void AllGatherKernel<float>(KernelArgs<float>)", Collective::allgather},
      {"ReduceScatterKernel<8>", Collective::reducescatter},
      {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", Collective::allreduce},
      {"ncclReduceScatterRingLL128Kernel_sum_f16", Collective::reducescatter},
      {"ncclBroadcastRingLLKernel_copy_i8(ncclColl)", Collective::broadcast},
      {"ncclSendRecvKernel_copy_i8(ncclColl)", Collective::sendrecv},
      {"ncclKernel_AllReduce_RING_LL_Sum_half(ncclDevComm*, unsigned long, ncclWork*)", Collective::allreduce},
      {"ncclKernel_AllReduce", Collective::allreduce},
      {"ncclKernel_Reduce_RING_LL_Sum_float(ncclDevComm*)", Collective::reduce},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", Collective::sendrecv},
      {"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Collective::allreduce},
      {"ncclDevKernel_AllGather_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", Collective::allgather},
      {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", Collective::reducescatter},
      {"ncclDevKernel_Broadcast_RING_LL", Collective::broadcast},
      {"ncclDevKernel_AlltoAll_RING_LL", Collective::alltoall},
      {"ncclDevKernel_SendRecv(ncclDevComm*, unsigned long, ncclWork*)", Collective::sendrecv},
      {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", Collective::other},
      {"ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf16", Collective::allreduce},
      {"ncclSymkDevKernel_ReduceScatter_RailA2A_LsaLD_sum_f32", Collective::reducescatter},
      {"ncclSymkDevKernel_AllGather_LLMC(ncclSymkDevArgs)", Collective::allgather},
      {"void oneRankReduce<FuncPreMulSum<float> >(void*, void*, unsigned long)", Collective::other},
      // RCCL
      {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>) [clone .kd]", Collective::other},
      {"ncclDevKernel_Generic_1.kd", Collective::other},
      {"rcclGenericKernel<1, false>(ncclDevComm*)", Collective::other},
      // vLLM, SGLang, aiter
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", Collective::allreduce},
      {"void aiter::cross_device_reduce_2stage_write_mode<half, 8>(aiter::RankData*)", Collective::allreduce},
      {"void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot>(half const*)", Collective::allreduce},
      // PyTorch symmetric memory
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long)",
       Collective::allreduce},
      {"void c10d::symmetric_memory::(anonymous namespace)::one_shot_all_reduce_kernel<float, 16, 8, false>(float**)",
       Collective::allreduce},
      {"two_shot_all_reduce_kernel_inplace<c10::BFloat16>", Collective::allreduce},
      {"multimem_one_shot_all_reduce_kernel", Collective::allreduce},
      {"multimem_all_gather_kernel<16>(char*)", Collective::allgather},
      // FlashInfer, TensorRT-LLM
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(int)1, half>(int)",
       Collective::allreduce},
      {"void allreduce_fusion_kernel_twoshot_sync<half>(int)", Collective::allreduce},
      {"void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8>(AllReduceParams)", Collective::allreduce},
      {"twoshotAllreduceKernel<8>", Collective::allreduce},
      {"oneshotAllreduceFusionKernel<8>", Collective::allreduce},
      // TransformerEngine
      {"void userbuffers_fp16_sum_inplace_gpu_rw<8>(int, int)", Collective::allreduce},
      {"void userbuffers_fp16_sum_inplace_gpu_rw_ag<8>(int, int)", Collective::allgather},
      {"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop_fp8<8, __nv_fp8_e4m3>(int)", Collective::reducescatter},
      {"userbuffers_fp16_sum_inplace_gpu_mc_ag", Collective::allgather},
      {"kuserbuffers_pushsend(int*, int*, int4*)", Collective::sendrecv},
      {"kuserbuffers_pushrecv(int, int)", Collective::sendrecv},
      // DeepEP, NVSHMEM, MSCCL, oneCCL, HCCL, dlslime
      {"void deep_ep::intranode::dispatch<8, 768>(int4*, float*)", Collective::alltoall},
      {"_ZN7deep_ep9intranode8dispatchILi8ELi768EEEvP4int4Pf", Collective::alltoall},
      {"_ZN7deep_ep12internode_ll7combineILb1EEEvPv", Collective::alltoall},
      {"void deep_ep::internode_ll::combine<true>(void*)", Collective::alltoall},
      {"void deep_ep::internode::notify_dispatch<false, 8>(int const*)", Collective::other},
      {"nvshmemi_alltoall_on_stream_kernel", Collective::alltoall},
      {"void nvshmem::barrier_kernel(int)", Collective::other},
      {"mscclKernel_Sum_float_LL(ncclDevComm*)", Collective::other},
      {"void mscclpp::allreduce7<float>(float*)", Collective::allreduce},
      {"oneccl_allreduce_small", Collective::allreduce},
      {"hcclAllGather", Collective::allgather},
      {"void intranode_alltoall<4>(int)", Collective::alltoall},
      // mangled
      {"_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE", Collective::allreduce},
      {"_ZN4vllm26cross_device_reduce_1stageIfLi8EEEvPNS_8RankDataE", Collective::allreduce},

      // compute that looks like communication
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float> > >(int)",
       compute},
      {"void splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)", compute},
      {"void at::native::_scatter_gather_elementwise_kernel<128, 4>(int)", compute},
      {"void cub::DeviceReduceKernel<cub::DeviceReducePolicy<float>, ncclKernel_AllReduce>(float*)", compute},
      {"void my::kernel<ncclDevKernel_AllReduce_Sum_f32_RING_LL>(int)", compute},
      {"void compute(ncclKernel_AllReduce)", compute},
      {"/opt/nccl/build/ncclKernel_AllReduce", compute},
      {"triton_poi_fused_all_reduce_add_0", compute},
      {"triton_red_fused_nccl_norm_1d", compute},
      {"void dispatch<8>(int)", compute},
      {"void other::dispatch<8>(int)", compute},
      {"void deep_epilogue::combine(int)", compute},
      {"_ZN13deep_epilogue7combineEi", compute},
      {"_ZN17deep_ep9intranode8dispatchEi", compute},
      {"ncclHelper", compute},
      {"Memcpy PtoP", compute},
      {"", compute},
      {"(", compute},
      {"<", compute},
      {"void f<>>>(", compute},
      {"_Z", compute},
      {"_Z99999999999999999999999x", compute},
  };
  for (const Row& row : rows) {
    CAPTURE(row.kernel);
    const auto got = ti::collective_of_kernel(row.kernel);
    CHECK(got == row.want);
  }
}

// Why: metadata and annotations spell one operation in many ways.
TEST_CASE("collective_of_word: the spellings of one operation") {
  struct Row {
    const char* spelling;
    std::optional<Collective> want;
  };
  const Row rows[] = {
      {"allreduce", Collective::allreduce},
      {"all_reduce", Collective::allreduce},
      {"allreduce_coalesced", Collective::allreduce},
      {"_allgather_base", Collective::allgather},
      {"_all_gather_base", Collective::allgather},
      {"allgather_into_tensor_coalesced", Collective::allgather},
      {"_reduce_scatter_base", Collective::reducescatter},
      {"reduce_scatter_tensor_coalesced", Collective::reducescatter},
      {"reduce", Collective::reduce},
      {"broadcast", Collective::broadcast},
      {"all_to_all", Collective::alltoall},
      {"all_to_allv", Collective::alltoall},
      {"send 0->1", Collective::sendrecv},
      {"recv 0<-1", Collective::sendrecv},
      {"barrier", Collective::other},
      {"gather", Collective::other},
      {"coalesced", std::nullopt},
      {"", std::nullopt},
  };
  for (const Row& row : rows) {
    CAPTURE(row.spelling);
    const auto got = ti::collective_of_word(row.spelling);
    CHECK(got == row.want);
  }
}

// Why: a message size is elements times this; a wrong width is a wrong bandwidth.
TEST_CASE("dtype_bytes") {
  CHECK(ti::dtype_bytes("Float") == 4);
  CHECK(ti::dtype_bytes("BFloat16") == 2);
  CHECK(ti::dtype_bytes("Half") == 2);
  CHECK(ti::dtype_bytes("Long") == 8);
  CHECK(ti::dtype_bytes("Int") == 4);
  CHECK(ti::dtype_bytes("ComplexFloat") == 8);
  CHECK(ti::dtype_bytes("Byte") == 1);
  CHECK(ti::dtype_bytes("Float8_e4m3fn") == 1);
  CHECK(ti::dtype_bytes("Mystery") == 0);
  CHECK(ti::dtype_bytes("") == 0);
}
