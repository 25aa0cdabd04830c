#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/ingest/kineto_support.hpp"

using namespace traceweir;
using namespace traceweir::ingest::test;
using timeline::Collective;
using timeline::Direction;
using timeline::HostMemory;
using timeline::WorkKind;
using timeline::WorkSource;

namespace {

/// A small trace with one of everything, keys on both sides of the events.
constexpr std::string_view everything = R"json({
  "schemaVersion": 1,
  "host_name": "secret {[\"host",
  "with_stack": 12, "ratio": -1.5e3 , "flag": true,
  "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}, {"id": 1, "name": "Other"}],
  "cuda_runtime_version": 12040, "cuda_driver_version": 12090,
  "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python ]}"}},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 10, "tid": 10, "ts": 1000.5, "dur": 900},
    {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#3", "pid": 0, "tid": 7, "ts": 1100, "dur": 800},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "tid": 10, "ts": 1001, "dur": 20, "args": {"x": [{}]}},
    {"ph": "X", "cat": "cpu_op", "name": "enumerate(DataLoader)#_Iter.__next__", "pid": 10, "tid": 10, "ts": 1002, "dur": 3},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": 1010, "dur": 5.25,
     "args": {"External id": 3, "cbid": 211, "correlation": 77}},
    {"ph": "X", "cat": "kernel", "name": "void my::gemm<float>(\"a\\b\")", "pid": 0, "tid": 7, "ts": 1100.001, "dur": 50.0019,
     "args": {"External id": 3, "device": 1, "context": 1, "stream": 20, "correlation": 77, "grid": [1, 1, 1]}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 1200, "dur": 2,
     "args": {"device": 0, "stream": 7, "correlation": 78, "bytes": 4096, "memory bandwidth (GB/s)": Infinity}},
    {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 1205, "dur": 1,
     "args": {"device": 0, "stream": 7, "correlation": 79, "bytes": 64}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy PtoP (Device -> Device)", "pid": 0, "tid": 7, "ts": 1210, "dur": 1,
     "args": {"device": 0, "stream": 7, "correlation": 80, "bytes": 8}},
    {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7, "ts": 1300, "dur": 90,
     "args": {"device": 0, "stream": 7, "correlation": 81}},
    {"ph": "X", "cat": "overhead", "name": "CUPTI Buffer Flush", "pid": -1, "tid": 0, "ts": 1300, "dur": 90},
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL(ncclDevComm*)", "pid": 0, "tid": 9, "ts": 1400, "dur": 30,
     "args": {"device": 0, "stream": 9, "correlation": 82, "Collective name": "_allgather_base", "In msg nelems": 100,
              "Out msg nelems": 200, "Group size": 2, "dtype": "BFloat16", "In split size": "[]", "Out split size": [1, 2],
              "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]",
              "Comms Id": 10159970886766084423, "Seq": 41}}
  ],
  "baseTimeNanoseconds": 1719853884000000000,
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"ranks": [0]}], "nccl_version": "2.27.5"}
})json";

std::vector<timeline::Work> work_of(const timeline::Timeline& t, WorkSource source) {
  std::vector<timeline::Work> out;
  for (const auto& w : t.work)
    if (w.source == source) out.push_back(w);
  return out;
}

}  // namespace

// Why: this is what every metric is made of; each field is checked once, against the text above.
TEST_CASE("read_kineto: one of everything") {
  const auto read = read_text(everything);
  REQUIRE(read);
  const timeline::Timeline& t = *read;
  CHECK(t.source.producer == "Kineto, schemaVersion 1");
  CHECK(t.rank == 3);
  CHECK(t.world_size == 8);
  CHECK(t.environment.cuda == "12.4");
  CHECK(t.environment.driver == "12.9");
  CHECK(t.environment.nccl == "2.27.5");
  CHECK(t.environment.framework == "PyTorch");
  CHECK(t.step_naming == timeline::StepNaming::profiler_step);
  REQUIRE(t.devices.size() == 2);
  CHECK(t.devices[0].gpu == "NVIDIA A100-SXM4-80GB");
  CHECK(t.devices[1].gpu == "Other");

  const auto kernels = work_of(t, WorkSource::kernel);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].begin == Nanos{1100001});
  CHECK(kernels[0].end == Nanos{1100001 + 50001});
  CHECK(kernels[0].stream == 20);
  CHECK(t.device(kernels[0].device).ordinal == 1);
  CHECK(t.name(kernels[0].name) == "void my::gemm<float>(\"a\\b\")");
  CHECK(kernels[0].kind == WorkKind::compute);
  REQUIRE(kernels[0].call != timeline::none);
  CHECK(t.name(t.calls[kernels[0].call].name) == "cudaLaunchKernel");
  CHECK(t.calls[kernels[0].call].end == Nanos{1015250});

  CHECK(kernels[1].kind == WorkKind::comm);
  CHECK(kernels[1].collective == Collective::allgather);
  REQUIRE(kernels[1].message != timeline::none);
  CHECK(t.messages[kernels[1].message] == timeline::Message{400, 2, "BFloat16", "0 [0,1]", 41});

  const auto copies = work_of(t, WorkSource::memcpy);
  REQUIRE(copies.size() == 2);
  CHECK(copies[0].direction == Direction::h2d);
  CHECK(copies[0].host_memory == HostMemory::pageable);
  CHECK(copies[0].bytes == 4096);
  CHECK(t.name(copies[0].name) == "Memcpy HtoD");
  CHECK(copies[1].kind == WorkKind::comm);
  CHECK(copies[1].collective == Collective::other);
  CHECK(work_of(t, WorkSource::memset).size() == 1);
  CHECK(t.work.size() == 5);  // no cuda_sync, no overhead, no annotation

  REQUIRE(t.ranges.size() == 2);
  CHECK(t.name(t.ranges[0].name) == "ProfilerStep#3");
  CHECK(t.ranges[0].begin == Nanos{1000500});
  CHECK(t.name(t.ranges[1].name) == "enumerate(DataLoader)#_Iter.__next__");
  CHECK(t.ranges[0].thread == t.ranges[1].thread);
  CHECK(t.has_host_calls);
  CHECK(oddities(t, FindingCode::invalid_text) == 1);  // Infinity, on a value that no metric needs
  CHECK(oddities(t, FindingCode::clock_base_missing) == 0);
  CHECK(text_of(t).find("secret") == std::string::npos);
}

// Why: batches end where the reads end; a state that is lost there would show in big files only.
TEST_CASE("read_kineto: a cut of the input between any two reads changes nothing") {
  const std::string want = text_of(*read_text(everything));
  for (std::size_t first = 1; first < everything.size(); ++first) {
    CAPTURE(first);
    const auto read = read_text(everything, {first, SIZE_MAX});
    REQUIRE(read);
    CHECK(text_of(*read) == want);
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}, std::size_t{100}}) {
    CAPTURE(piece);
    CHECK(text_of(*read_text(everything, {piece})) == want);
  }
}

// Why: other writers put the keys of an event in any order; the early way out may not depend on it.
TEST_CASE("read_kineto: keys of an event in any order, events in a bare array") {
  const std::string usual = kernel("k", "1", "2");
  const std::string reversed =
      R"({"args": {"correlation": 5, "stream": 7, "device": 0}, "dur": 2, "ts": 1, "tid": 7, "pid": 0, "name": "k", )"
      R"("cat": "kernel", "ph": "X"})";
  const std::string host =
      R"({"args": {"correlation": 5}, "name": "aten::mm", "ts": 1, "dur": 2, "cat": "cpu_op", "ph": "X"})";
  const std::string want = text_of(*read_text("[" + usual + "]"));
  CHECK(want.find("work 1000 3000 7") != std::string::npos);
  CHECK(text_of(*read_text("[" + reversed + "]")) == want);
  CHECK(text_of(*read_text("[" + host + "," + reversed + "]")) == want);
  CHECK(text_of(*read_text("\xEF\xBB\xBF \n [" + usual + ",\n]")) == want);
  CHECK(text_of(*read_text(trace_of(usual))) == want);
  CHECK(text_of(*read_text(R"({"traceEvents": [], "x": {}, "traceEvents": [)" + usual + "]}")) == want);
}

// Why: files of 2021 name everything differently; a reader that misses it reports an idle GPU.
TEST_CASE("read_kineto: the names of 2021") {
  const auto read = read_text(trace_of(
      R"json({"ph": "X", "cat": "Operator", "name": "ProfilerStep#1", "pid": 5, "tid": "5", "ts": 10, "dur": 100},)json"
      R"json({"ph": "X", "cat": "Runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": "5", "ts": 11, "dur": 2,)json"
      R"json( "args": {"cbid": 1, "correlation": 9, "external id": 4}},)json"
      R"json({"ph": "X", "cat": "Memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "pid": 0, "tid": "stream 7", "ts": 20,)json"
      R"json( "dur": 4, "args": {"device": 0, "stream": 7, "correlation": 9, "bytes": 16}},)json"
      R"json({"ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": "stream 13", "ts": 25, "dur": 1},)json"
      R"json({"ph": "X", "cat": "Kernel", "name": "k", "pid": 2, "tid": "stream 13", "ts": 30, "dur": 4})json"));
  REQUIRE(read);
  REQUIRE(read->work.size() == 3);
  CHECK(read->work[0].direction == Direction::d2h);
  CHECK(read->work[0].host_memory == HostMemory::pinned);
  CHECK(read->work[0].call != timeline::none);
  CHECK(read->work[1].stream == 13);
  CHECK(read->device(read->work[2].device).ordinal == 2);
  REQUIRE(read->ranges.size() == 1);
  CHECK(read->ranges[0].kind == timeline::RangeKind::step_only);
  CHECK(read->ranges[0].thread == read->calls[0].thread);
}

// Why: the name of a generic kernel says nothing; what stands elsewhere in the file may, wherever it stands.
TEST_CASE("read_kineto: the kind of a generic communication kernel") {
  const std::string generic = R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic_4", "pid": 0, "tid": 9, )"
                              R"("ts": 100, "dur": 50, "args": {"device": 0, "stream": 9, "External id": 12}})";
  const auto annotation = [](int stream, int begin, int length) {
    return fmt::format(R"({{"ph": "X", "cat": "gpu_user_annotation", "name": "nccl:_reduce_scatter_base", "pid": 0, )"
                       R"("tid": {}, "ts": {}, "dur": {}}})",
                       stream, begin, length);
  };
  const std::string params =
      R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 3, "tid": 3, "ts": 1, )"
      R"("dur": 2, "args": {"External id": 12, "Collective name": "all_to_allv"}})";
  struct Row {
    const char* name;
    std::string events;
    Collective want;
  };
  const Row rows[] = {
      {"nothing says it", generic, Collective::other},
      {"an annotation around it, later in the file", generic + "," + annotation(9, 99, 52), Collective::reducescatter},
      {"an annotation on another stream", annotation(8, 99, 52) + "," + generic, Collective::other},
      {"an annotation that ends too early", annotation(9, 99, 20) + "," + generic, Collective::other},
      {"a short annotation inside a long one", annotation(9, 10, 5) + "," + annotation(9, 99, 52) + "," + generic,
       Collective::reducescatter},
      {"the operator that launched it", params + "," + generic, Collective::alltoall},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto read = read_text(trace_of(row.events));
    REQUIRE(read);
    REQUIRE(read->work.size() == 1);
    CHECK(read->work[0].kind == WorkKind::comm);
    CHECK(read->work[0].collective == row.want);
  }
}

// Why: a message is counted as nccl-tests counts it, or bandwidths are wrong by the number of ranks.
TEST_CASE("read_kineto: sizes of messages") {
  struct Row {
    const char* args;
    timeline::Message want;
  };
  const Row rows[] = {
      {R"("Collective name": "allreduce", "In msg nelems": 6, "Out msg nelems": 6, "dtype": "Float", "Group size": 2)",
       {24, 2, "Float", "", std::nullopt}},
      {R"("Collective name": "_reduce_scatter_base", "In msg nelems": 8, "Out msg nelems": 2, "dtype": "Half", "Group size": 4)",
       {16, 4, "Half", "", std::nullopt}},
      {R"("Collective name": "recv", "In msg nelems": 0, "Out msg nelems": "10", "dtype": "Byte", "Seq": "7")",
       {10, 0, "Byte", "", 7}},
      {R"("Collective name": "allreduce", "In msg nelems": 4611686018427387904, "dtype": "Double", "Group size": -3)",
       {0, 0, "Double", "", std::nullopt}},
      {R"("Collective name": "allreduce", "In msg nelems": 5, "dtype": null, "Process Group Name": "tp \"1\"")",
       {0, 0, "", "tp \"1\"", std::nullopt}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.args);
    const auto read = read_text(trace_of(kernel("ncclDevKernel_Generic", "1", "2", std::string(", ") + row.args)));
    REQUIRE(read);
    REQUIRE(read->messages.size() == 1);
    CHECK(read->messages[0] == row.want);
  }
}

// Why: what ran inside a graph carries the correlation of the call that launched the graph; the run is comparable only
// with runs that were traced the same way.
TEST_CASE("read_kineto: launches of graphs") {
  const auto mode = [](std::string_view call, std::string_view more) {
    const std::string host = fmt::format(
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "{}", "pid": 1, "tid": 1, "ts": 0.5, "dur": 1, "args": {{"correlation": 5}}}},)",
        call);
    return read_text(trace_of(host + kernel("k", "1", "2", more)))->graph_mode;
  };
  CHECK(mode("cudaLaunchKernel", "") == timeline::GraphMode::none);
  CHECK(mode("cudaGraphLaunch", "") == timeline::GraphMode::node);
  CHECK(mode("hipGraphLaunch", "") == timeline::GraphMode::node);
  CHECK(mode("cudaLaunchKernel", R"(, "graph node id": 0)") == timeline::GraphMode::none);
  CHECK(mode("cudaLaunchKernel", R"(, "graph node id": 3)") == timeline::GraphMode::node);
}

// Why: a trace without its clock's origin cannot be aligned with others; whole microseconds are the old, absolute
// clock.
TEST_CASE("read_kineto: a missing clock base is noted where times are relative") {
  CHECK(oddities(*read_text(trace_of(kernel("k", "1.5", "2"))), FindingCode::clock_base_missing) == 1);
  CHECK(oddities(*read_text(trace_of(kernel("k", "1.000", "2"))), FindingCode::clock_base_missing) == 0);
  CHECK(oddities(*read_text(R"({"baseTimeNanoseconds": 1, )" + trace_of(kernel("k", "1.5", "2")).substr(1)),
                 FindingCode::clock_base_missing) == 0);
}

// Why: all visible devices are listed, not the one that was used; a wrong name makes runs look comparable.
TEST_CASE("read_kineto: the name of the GPU") {
  const auto gpu = [](std::string_view devices) {
    const auto read =
        read_text(fmt::format(R"({{"deviceProperties": {}, "traceEvents": [{}]}})", devices,
                              R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 2, "tid": 0, "ts": 1, "dur": 1})"));
    return read->devices.at(0).gpu;
  };
  CHECK(gpu("[]") == "");
  CHECK(gpu(R"([{"id": 2, "name": "B"}, {"id": 1, "name": "A"}])") == "B");
  CHECK(gpu(R"([{"id": 0, "name": "A"}])") == "A");
  CHECK(gpu(R"([{"id": 0, "name": "A"}, {"id": 1, "name": "B"}])") == "");
  CHECK(gpu(R"({"id": 0})") == "");
}
