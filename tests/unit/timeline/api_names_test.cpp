#include <doctest/doctest.h>

#include "analyzer/timeline/builder.hpp"

namespace tml = traceweir::timeline;

// Why: nsys writes API names with version tails and Kineto without; both must count as the same call.
TEST_CASE("api_name: tails are stripped, names are not") {
  struct Row {
    const char* name;
    const char* want;
  };
  const Row rows[] = {
      {"cudaLaunchKernel", "cudaLaunchKernel"},
      {"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
      {"cudaMemcpyAsync_v3020_ptsz", "cudaMemcpyAsync"},
      {"cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync"},
      {"cudaMemcpy_ptds_v7000", "cudaMemcpy"},
      {"cudaGetDeviceProperties_v2_v12000", "cudaGetDeviceProperties"},
      {"cuMemAlloc_v2", "cuMemAlloc"},
      {"cudaMemcpy2D", "cudaMemcpy2D"},
      {"name_v", "name_v"},
      {"name_vx1", "name_vx1"},
      {"name7000", "name7000"},
      {"", ""},
      {"v1", "v1"},
      {"_v1", "_v1"},
      {"_ptsz", "_ptsz"},
      {"7", "7"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(tml::api_name(row.name) == row.want);
  }
}

// Why: sync.* and alloc.* count exactly these; one name too many makes every launch a wait.
TEST_CASE("what a call does is told by its name") {
  struct Row {
    const char* name;
    bool blocks;
    bool allocates;
  };
  const Row rows[] = {
      {"cudaDeviceSynchronize", true, false},
      {"cudaThreadSynchronize", true, false},
      {"cudaStreamSynchronize", true, false},
      {"cudaEventSynchronize", true, false},
      {"cuCtxSynchronize", true, false},
      {"cuStreamSynchronize", true, false},
      {"cuEventSynchronize", true, false},
      {"hipDeviceSynchronize", true, false},
      {"hipStreamSynchronize", true, false},
      {"hipEventSynchronize", true, false},
      {"cudaMemcpy", true, false},
      {"cudaMemcpy2D", true, false},
      {"cudaMemcpyToSymbol", true, false},
      {"cuMemcpyHtoD", true, false},
      {"hipMemcpyWithStream", true, false},
      {"cudaMemcpyAsync", false, false},
      {"cudaMemcpy2DAsync", false, false},
      {"cuMemcpyDtoHAsync", false, false},
      {"hipMemcpyAsync", false, false},
      {"cudaMemset", false, false},
      {"cudaStreamWaitEvent", false, false},
      {"cudaEventQuery", false, false},
      {"cudaLaunchKernel", false, false},
      {"cudaMalloc", false, true},
      {"cudaMalloc3DArray", false, true},
      {"cudaMallocPitch", false, true},
      {"cudaMallocManaged", false, true},
      {"cudaMallocAsync", false, true},
      {"cudaMallocFromPoolAsync", false, true},
      {"cudaFree", false, true},
      {"cudaFreeAsync", false, true},
      {"cudaFreeArray", false, true},
      {"cuMemAlloc", false, true},
      {"cuMemAllocPitch", false, true},
      {"cuMemFree", false, true},
      {"cuMemFreeAsync", false, true},
      {"hipMalloc", false, true},
      {"hipFree", false, true},
      {"hipExtMallocWithFlags", false, true},
      {"cudaMallocHost", false, false},
      {"cudaHostAlloc", false, false},
      {"cudaFreeHost", false, false},
      {"cuMemAllocHost", false, false},
      {"cuMemFreeHost", false, false},
      {"cuMemHostAlloc", false, false},
      {"hipHostMalloc", false, false},
      {"hipHostFree", false, false},
      {"", false, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(tml::is_blocking_call(row.name) == row.blocks);
    CHECK(tml::is_allocation_call(row.name) == row.allocates);
  }
}
