// The host's side of Nsight Systems exports, and what they say about themselves.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analyzer/ingest/nsys_facts.hpp"
#include "analyzer/ingest/nsys_nccl.hpp"
#include "tests/unit/ingest/nsys_fixture.hpp"

using namespace traceweir;
using namespace traceweir::test;
namespace line = traceweir::timeline;
namespace nsys = traceweir::ingest::nsys;

namespace {

const std::string base = std::string(export_tables) + string_row(1, "ncclDevKernel_Generic(args)") +
                         string_row(2, "cudaLaunchKernelExC_v11060") + string_row(3, "ncclAllReduce") +
                         string_row(4, "NCCL") + string_row(5, "cudaStreamSynchronize_v3020_ptsz") +
                         string_row(6, "registered");

/// A row of NVTX_EVENTS; `text`, `text_id` and `end` as SQL.
std::string nvtx_row(int type, std::int64_t begin, const std::string& end, const std::string& text,
                     const std::string& text_id, int domain, int thread = 7) {
  return fmt::format("INSERT INTO NVTX_EVENTS VALUES ({}, {}, {}, NULL, {}, {}, NULL, {}, {});", begin, end, type, text,
                     process_100 + thread, text_id, domain);
}

std::string diagnostic_table(const std::string& rows) {
  return "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, source INTEGER "
         "NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL, globalPid INTEGER);"
         "INSERT INTO DIAGNOSTIC_EVENT VALUES " +
         rows + ";";
}

}  // namespace

// Why: rows of eventClass 67 repeat every call under its correlation; counted, each wait would be two.
TEST_CASE("nsys: calls are read once, with what they do") {
  const line::Timeline rank = rank_of(
      base + kernel_row(100, 200, 5, 1) + call_row(10, 20, 5, 2) + call_row(30, 250, 6, 5) +
      fmt::format(
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 250, 67, {0}, 6, 5, 0, NULL), (5, 20, 67, {0}, 5, "
          "2, 0, NULL), (40, 41, 1, {1}, 7, 5, 0, NULL);",
          process_100 + 7, (std::int64_t{101} << 24) + 7));
  REQUIRE(rank.calls.size() == 2);
  CHECK(rank.calls[0].span() == Interval{Nanos{10}, Nanos{20}});
  CHECK_FALSE(rank.calls[0].blocking);
  CHECK(rank.calls[1].span() == Interval{Nanos{30}, Nanos{250}});
  CHECK(rank.calls[1].blocking);
  CHECK(rank.name(rank.calls[1].name) == "cudaStreamSynchronize");
  CHECK(rank.thread_count == 1);  // the other process did no work
}

// Why: steps and phases are the user's ranges; marks, thread names and NCCL's own ranges are not.
TEST_CASE("nsys: which NVTX rows are ranges of the user") {
  struct Row {
    const char* name;
    std::string row;
    bool is_range;
  };
  const Row rows[] = {
      {"push and pop", nvtx_row(59, 1, "9", "'step 1'", "NULL", 0), true},
      {"start and end", nvtx_row(60, 1, "9", "'step 1'", "NULL", 0), true},
      {"a registered string", nvtx_row(59, 1, "9", "NULL", "6", 0), true},
      {"of a domain of its own", nvtx_row(59, 1, "9", "'step 1'", "NULL", 3), true},
      {"no name", nvtx_row(59, 1, "9", "NULL", "NULL", 0), true},
      {"a lower-case nccl range of the user", nvtx_row(59, 1, "9", "'nccl_setup'", "NULL", 0), true},
      {"NCCL's domain", nvtx_row(59, 1, "9", "'anything'", "NULL", 9), false},
      {"NCCL's function in the default domain", nvtx_row(59, 1, "9", "'ncclGroupEnd'", "NULL", 0), false},
      {"NCCL's function in a domain without name", nvtx_row(59, 1, "9", "NULL", "3", 3), false},
      {"a mark", nvtx_row(34, 1, "NULL", "'mark'", "NULL", 0), false},
      {"a thread name", nvtx_row(39, 1, "NULL", "'main'", "NULL", 0), false},
      {"a domain", nvtx_row(75, 1, "NULL", "'mine'", "NULL", 8), false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    // The name of the domain comes last: an export need not be in order.
    const line::Timeline rank =
        rank_of(base + kernel_row(100, 200, 0, 2) + row.row + nvtx_row(75, 0, "NULL", "NULL", "4", 9));
    CHECK(rank.ranges.size() == (row.is_range ? 1 : 0));
    CHECK(count_of(rank, FindingCode::open_range) == 0);
  }
}

// Why: an open range read as ending at 0 or at the end would be a step that never was.
TEST_CASE("nsys: a range without an end is dropped and counted") {
  const line::Timeline rank =
      rank_of(base + kernel_row(100, 200, 0, 2) + nvtx_row(59, 1, "NULL", "'step 9'", "NULL", 0) +
              nvtx_row(59, 1, "5", "'step 8'", "NULL", 0));
  CHECK(rank.ranges.size() == 1);
  CHECK(count_of(rank, FindingCode::open_range) == 1);
  CHECK(rank.oddities.at(FindingCode::open_range).examples[0] == "step 9");
}

// Why: RCCL's kernels and many of NCCL's are called Generic; only the range around the launch tells what they do.
TEST_CASE("nsys: a generic kernel is named by the NCCL range around its launch") {
  struct Row {
    const char* name;
    std::string rows;
    line::Collective want;
  };
  const std::string kernel = kernel_row(100, 200, 5, 1);
  const std::string call = call_row(10, 20, 5, 2);
  const auto range = [](std::int64_t begin, int end, const char* text, int thread = 7) {
    return nvtx_row(59, begin, std::to_string(end), fmt::format("'{}'", text), "NULL", 9, thread);
  };
  const Row rows[] = {
      {"inside", call + range(10, 20, "ncclAllReduce"), line::Collective::allreduce},
      {"by a registered name", call + nvtx_row(59, 9, "21", "NULL", "3", 9), line::Collective::allreduce},
      {"the innermost", call + range(5, 30, "ncclAllGather") + range(9, 21, "ncclReduceScatter"),
       line::Collective::reducescatter},
      {"past one that has ended", call + range(5, 30, "ncclAllGather") + range(6, 9, "ncclReduce"),
       line::Collective::allgather},
      {"in a group", call + range(9, 21, "ncclGroupEnd"), line::Collective::other},
      {"cut by the range's end", call + range(9, 15, "ncclAllReduce"), line::Collective::other},
      {"on another thread", call + range(9, 21, "ncclAllReduce", 8), line::Collective::other},
      {"of several calls, the earliest",
       call_row(50, 60, 5, 2) + call + range(49, 61, "ncclSend") + range(9, 21, "ncclBroadcast"),
       line::Collective::broadcast},
      {"no call", range(9, 21, "ncclAllReduce"), line::Collective::other},
      {"no range", call, line::Collective::other},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const line::Timeline rank = rank_of(base + kernel + row.rows + nvtx_row(75, 0, "NULL", "NULL", "4", 9));
    REQUIRE(rank.work.size() == 1);
    CHECK(rank.work[0].kind == line::WorkKind::comm);
    CHECK(rank.work[0].collective == row.want);
    CHECK(rank.ranges.empty());
  }
}

// Why: PyTorch's own range tells the kind where NCCL's are not recorded; it stays a range, and NCCL's word counts more.
TEST_CASE("nsys: a generic kernel is named by the framework's range around its launch") {
  const std::string launch = kernel_row(100, 200, 5, 1) + call_row(10, 20, 5, 2);
  const line::Timeline rank = rank_of(base + launch + range_row(5, 30, "nccl:_all_gather_base"));
  REQUIRE(rank.work.size() == 1);
  CHECK(rank.work[0].collective == line::Collective::allgather);
  CHECK(rank.ranges.size() == 1);
  const line::Timeline both =
      rank_of(base + launch + range_row(5, 30, "nccl:_all_gather_base") + range_row(2, 40, "ncclBroadcast"));
  CHECK(both.work[0].collective == line::Collective::broadcast);
  const line::Timeline unknown = rank_of(base + launch + range_row(5, 30, "nccl:something"));
  CHECK(unknown.work[0].collective == line::Collective::other);
}

TEST_CASE("nsys: functions of NCCL") {
  CHECK(nsys::is_nccl_call("ncclGroupEnd"));
  CHECK_FALSE(nsys::is_nccl_call("nccl"));
  CHECK_FALSE(nsys::is_nccl_call("nccl:all_reduce"));
  CHECK_FALSE(nsys::is_nccl_call("my ncclAllReduce"));
  CHECK(nsys::nccl_range_of("ncclAlltoAll", 1, {})->kind == line::Collective::alltoall);
  CHECK(nsys::nccl_range_of("ncclRecv", 1, {})->kind == line::Collective::sendrecv);
  CHECK(nsys::nccl_range_of("ncclGroupEnd", 1, {})->function == nsys::NcclFunction::group_end);
  CHECK_FALSE(nsys::nccl_range_of("ncclAllReduceX", 1, {}).has_value());
}

// Why: lost events make a verdict inconclusive; a question of the profiler, or a loss in a launcher, must not.
TEST_CASE("nsys: diagnostics of lost events") {
  struct Row {
    const char* text;
    int severity;
    std::int64_t global_pid;
    bool lost;
  };
  const std::int64_t other = std::int64_t{500} << 24;
  const Row rows[] = {
      {"Not all NVTX events might have been collected.", 2, process_100, true},
      {"Not all CUDA events might have been collected.", 3, process_100, true},
      {"CUDA profiling might have not been started correctly.", 2, process_100, true},
      {"12 events were LOST.", 2, 0, true},
      {"CUPTI buffers were full", 2, 0, true},
      {"Event buffer is full; Events Were NOT Recorded", 3, process_100, true},
      {"Unified Memory trace is not supported", 2, process_100, false},
      {"Buffer overflow: events dropped", 3, 0, true},
      {"Not all NVTX events might have been collected.", 2, other, false},
      {"Not all NVTX events might have been collected.", 1, process_100, false},
      {"No NVTX events collected. Does the process use NVTX?", 2, process_100, false},
      {"Unable to collect CPU kernel IP/backtrace samples. perf event paranoid level is 2.", 2, process_100, false},
      {"Installed CUDA driver version (12.0) is not supported by this build", 2, process_100, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CAPTURE(row.severity);
    const line::Timeline rank =
        rank_of(base + kernel_row(1, 2, 3, 2) +
                diagnostic_table(fmt::format("(-5, 2, 3, {}, '{}', {})", row.severity, row.text, row.global_pid)));
    CHECK(count_of(rank, FindingCode::lost_events) == (row.lost ? 1 : 0));
    if (row.lost) CHECK(rank.oddities.at(FindingCode::lost_events).examples[0] == row.text);
  }
  const line::Timeline nothing =
      rank_of(base + diagnostic_table(fmt::format("(0, 2, 3, 2, 'events lost', {})", other)));
  CHECK(count_of(nothing, FindingCode::lost_events) == 1);  // it may be why there is no work
}

// Why: the table that has the driver's version also has every variable of the job; a report goes to a whole team.
TEST_CASE("nsys: the environment is read, and nothing that is nobody's business") {
  const std::string secret = "s3cr3t";
  const Database database(
      base + kernel_row(1, 2, 3, 2) +
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, "
      "nameEnum INTEGER NOT NULL, value TEXT NOT NULL);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'Local', 'NvDriverVersion', 205, '535.129.03'),"
      "(1, 'Local', 'CudaDriverVersion', 611, '12080'), (1, 'Local', 'Hostname', 619, 's3cr3t-host'),"
      "(1, 'Local', 'DeviceEnvironment', 700, 'TOKEN=s3cr3t');"
      "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2024.6.2.25'),"
      "('EXPORT_SCHEMA_VERSION', '3.16.1'), ('EXPORT_USER', 's3cr3t'), ('EXPORT_HOST', 's3cr3t'),"
      "('EXPORT_PARAM_INPUT_PATH', '/home/s3cr3t/report.nsys-rep');" +
      diagnostic_table("(0, 1, 1, 2, 'events lost in /home/s3cr3t/run.py of s3cr3t@host', NULL)"));
  const auto ranks = read_nsys(database.path());
  REQUIRE(ranks.has_value());
  const line::Timeline& rank = ranks->front();
  CHECK(rank.source.producer == "nsys 2024.6.2.25, schema 3.16.1");
  CHECK(rank.environment.driver == "535.129.03");
  CHECK(rank.environment.cuda == "12.8");
  CHECK(rank.environment.nccl.empty());
  CHECK(rank.environment.framework.empty());
  std::string all = rank.source.producer + rank.environment.driver + rank.environment.cuda;
  for (const std::string& name : rank.names) all += name;
  for (const auto& [code, oddity] : rank.oddities)
    for (const std::string& example : oddity.examples) all += example;
  CHECK(all.find(secret) == std::string::npos);
  CHECK(rank.oddities.at(FindingCode::lost_events).examples[0] == "events lost in … of …");
}

TEST_CASE("nsys: versions as exporters of all years write them") {
  struct Row {
    const char* tables;
    const char* producer;
    const char* driver;
    const char* cuda;
  };
  const Row rows[] = {
      {"CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT); INSERT INTO EXPORT_META_DATA VALUES "
       "('EXPORT_PRODUCT_VERSION', '2022.2.1.31'), ('EXPORT_SCHEMA_VERSION', '2.9.1');",
       "nsys 2022.2.1.31, schema 2.9.1", "", ""},
      {"CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT); INSERT INTO META_DATA_EXPORT VALUES "
       "('EXPORT_PRODUCT_VERSION', '2026.1.1.204');",
       "nsys 2026.1.1.204", "", ""},
      {"CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES "
       "('NvDriverVersion', '5303002'), ('CudaDriverVersion', '12010');",
       "nsys before 2021.5", "530.30.02", "12.1"},
      {"CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES "
       "('NvDriverVersion', 52510517), ('CudaDriverVersion', 13000);",
       "nsys before 2021.5", "525.105.17", "13.0"},
      {"CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES "
       "('NvDriverVersion', 'odd'), ('CudaDriverVersion', 'odd');",
       "nsys before 2021.5", "odd", "odd"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.tables);
    const line::Timeline rank = rank_of(base + row.tables);
    CHECK(rank.source.producer == row.producer);
    CHECK(rank.environment.driver == row.driver);
    CHECK(rank.environment.cuda == row.cuda);
  }
}

// Why: the ordinal is the process's own, and TARGET_INFO_GPU lists the machine in an order of its own.
TEST_CASE("nsys: which GPU a process means") {
  const std::string machine =
      "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, uuid TEXT, cuDevice INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'GPU one', 'u1', 0), (0, 0, 'GPU nought', 'u0', 1);";
  const std::string visible = "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);";
  const std::string kernel = kernel_row(1, 2, 3, 2);
  const auto gpu_of = [&](const std::string& sql) { return rank_of(base + kernel + sql).devices.at(0).gpu; };
  CHECK(gpu_of("") == "");
  CHECK(gpu_of(machine) == "GPU one");
  CHECK(gpu_of(machine + visible + "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 100);") == "GPU nought");
  CHECK(gpu_of(machine + visible + "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 101);") == "GPU one");
  CHECK(
      gpu_of("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, 'slim');") ==
      "slim");
  CHECK(gpu_of("CREATE TABLE TARGET_INFO_GPU (deviceId INTEGER, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, "
               "'old');") == "old");

  // Two ordinals of one GPU are one device; two slices that carry one uuid are not.
  const std::string second = fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 6, 1, 1, 7, 4, {}, 2, 2, NULL, NULL);", process_100);
  CHECK(rank_of(base + kernel + second + machine).devices.size() == 2);
  CHECK(rank_of(base + kernel + second + machine + visible +
                "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 100), (0, 1, 100);")
            .devices.size() == 1);
  CHECK(rank_of(base + kernel + second + machine + "UPDATE TARGET_INFO_GPU SET uuid = 'same';").devices.size() == 2);
}
