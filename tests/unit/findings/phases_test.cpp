#include "analyzer/findings/phases.hpp"

#include <doctest/doctest.h>

using traceweir::findings::names_data_loading;

// Why: idle time before work inside such a range is called `input`, and the advice is about workers and prefetching.
TEST_CASE("names_data_loading: what loads data, and what only sounds like it") {
  for (const char* name :
       {"data_loading", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "Load batch", "prefetch",
        "decode_images", "augment", "get_input", "DataParallel data wait"}) {
    CAPTURE(name);
    CHECK(names_data_loading(name));
  }
  for (const char* name : {"DistributedDataParallel.forward", "FullyShardedDataParallel.forward", "data_parallel_step",
                           "forward", "workload", "overload", "upload_metrics", "optimizer", ""}) {
    CAPTURE(name);
    CHECK_FALSE(names_data_loading(name));
  }
}
