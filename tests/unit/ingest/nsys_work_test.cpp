// GPU work of Nsight Systems exports: rows, devices, processes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "tests/unit/ingest/nsys_fixture.hpp"

using namespace traceweir;
using namespace traceweir::test;
namespace line = traceweir::timeline;

namespace {

const std::string names = string_row(1, "gemm") + string_row(2, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)") +
                          string_row(3, "cudaLaunchKernel_v7000") + string_row(4, "cudaMemcpyAsync_v3020");

std::string copy_row(int kind, const char* source_kind, const char* destination_kind, const char* source = "NULL",
                     const char* destination = "NULL") {
  return fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10, 20, 0, 1, 7, 5, {}, 64, {}, {}, {}, {}, {}, NULL);",
      process_100, kind, source_kind, destination_kind, source, destination);
}

}  // namespace

// Why: the worked example of the metrics, as an export: 5 ms of kernels, 15 ms nothing, a copy of 2 ms.
TEST_CASE("nsys: kernels, copies and calls become one Timeline") {
  constexpr std::int64_t ms = 1'000'000;
  const line::Timeline rank = rank_of(
      std::string(export_tables) + names + kernel_row(1 * ms, 6 * ms, 11, 1) +
      fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({}, {}, 0, 1, 14, 12, {}, 4096, 1, 0, 2, NULL, NULL, "
                  "NULL);",
                  21 * ms, 23 * ms, process_100) +
      kernel_row(23 * ms, 28 * ms, 13, 2) + call_row(0, 9, 11, 3) + call_row(20 * ms, 21 * ms, 12, 4) +
      range_row(0, 22 * ms, "step 1"));
  REQUIRE(rank.work.size() == 3);
  CHECK(rank.source.format == "nsys_sqlite");
  CHECK(rank.source.compression == "none");
  CHECK(rank.source.bytes > 4096);
  CHECK(rank.source.producer == "nsys before 2021.5");
  CHECK(rank.step_naming == line::StepNaming::nvtx);
  CHECK_FALSE(rank.rank.has_value());
  CHECK_FALSE(rank.world_size.has_value());

  const line::Work& gemm = rank.work[0];
  CHECK(gemm.span() == Interval{Nanos{1 * ms}, Nanos{6 * ms}});
  CHECK(gemm.kind == line::WorkKind::compute);
  CHECK(gemm.source == line::WorkSource::kernel);
  CHECK(gemm.stream == 7);
  CHECK(rank.name(gemm.name) == "gemm");
  REQUIRE(gemm.call != line::none);
  CHECK(rank.name(rank.calls[gemm.call].name) == "cudaLaunchKernel");

  const line::Work& copy = rank.work[1];
  CHECK(copy.kind == line::WorkKind::memory);
  CHECK(copy.source == line::WorkSource::memcpy);
  CHECK(copy.direction == line::Direction::h2d);
  CHECK(copy.host_memory == line::HostMemory::pageable);
  CHECK(copy.bytes == 4096);
  CHECK(rank.name(copy.name) == "Memcpy HtoD");

  const line::Work& reduce = rank.work[2];
  CHECK(reduce.kind == line::WorkKind::comm);
  CHECK(reduce.collective == line::Collective::allreduce);
  CHECK(reduce.call == line::none);  // launched before the capture
  CHECK(count_of(rank, FindingCode::orphan_kernels) == 1);
  REQUIRE(rank.ranges.size() == 1);
  CHECK(rank.name(rank.ranges[0].name) == "step 1");
  CHECK(rank.ranges[0].thread == rank.calls[0].thread);
}

// Why: the codes are built in, since old exports have no table of them; a wrong row here misplaces every copy.
TEST_CASE("nsys: what a copy is") {
  struct Row {
    int kind;
    const char* source_kind;
    const char* destination_kind;
    const char* name;
    line::Direction direction;
    line::HostMemory host;
  };
  using D = line::Direction;
  using H = line::HostMemory;
  const Row rows[] = {
      {1, "0", "2", "Memcpy HtoD", D::h2d, H::pageable},   {1, "1", "2", "Memcpy HtoD", D::h2d, H::pinned},
      {1, "4", "2", "Memcpy HtoD", D::h2d, H::unknown},    {1, "NULL", "NULL", "Memcpy HtoD", D::h2d, H::unknown},
      {1, "'0'", "2", "Memcpy HtoD", D::h2d, H::pageable},  // an INTEGER column turns the text into a number
      {1, "'a'", "2", "Memcpy HtoD", D::h2d, H::unknown},  {2, "2", "0", "Memcpy DtoH", D::d2h, H::pageable},
      {2, "2", "1", "Memcpy DtoH", D::d2h, H::pinned},     {2, "0", "2", "Memcpy DtoH", D::d2h, H::unknown},
      {3, "1", "3", "Memcpy HtoA", D::h2d, H::pinned},     {4, "3", "0", "Memcpy AtoH", D::d2h, H::pageable},
      {5, "3", "3", "Memcpy AtoA", D::d2d, H::unknown},    {6, "3", "2", "Memcpy AtoD", D::d2d, H::unknown},
      {7, "2", "3", "Memcpy DtoA", D::d2d, H::unknown},    {8, "2", "2", "Memcpy DtoD", D::d2d, H::unknown},
      {8, "0", "0", "Memcpy DtoD", D::d2d, H::unknown},    {9, "0", "0", "Memcpy HtoH", D::none, H::unknown},
      {11, "0", "0", "Memcpy HtoD", D::h2d, H::unknown},   {11, "7", "7", "Memcpy HtoD", D::h2d, H::unknown},
      {12, "7", "7", "Memcpy DtoH", D::d2h, H::unknown},   {13, "7", "7", "Memcpy DtoD", D::d2d, H::unknown},
      {0, "7", "7", "Memcpy", D::none, H::unknown},        {99, "7", "7", "Memcpy", D::none, H::unknown},
  };
  for (const Row& row : rows) {
    CAPTURE(row.kind);
    CAPTURE(row.source_kind);
    const line::Timeline rank =
        rank_of(std::string(export_tables) + copy_row(row.kind, row.source_kind, row.destination_kind));
    REQUIRE(rank.work.size() == 1);
    CHECK(rank.work[0].kind == line::WorkKind::memory);
    CHECK(rank.work[0].direction == row.direction);
    CHECK(rank.work[0].host_memory == row.host);
    CHECK(rank.name(rank.work[0].name) == row.name);
  }
}

// Why: copies between GPUs are communication; counted as copies they would hide in memcpy.*.
TEST_CASE("nsys: peer copies are communication of no known kind") {
  for (const std::string& row : {copy_row(10, "2", "2"), copy_row(8, "2", "2", "0", "1")}) {
    const line::Timeline rank = rank_of(std::string(export_tables) + row);
    REQUIRE(rank.work.size() == 1);
    CHECK(rank.work[0].kind == line::WorkKind::comm);
    CHECK(rank.work[0].collective == line::Collective::other);
    CHECK(rank.work[0].direction == line::Direction::none);
    CHECK(rank.work[0].source == line::WorkSource::memcpy);
    CHECK(rank.name(rank.work[0].name) == "Memcpy PtoP");
  }
  for (const std::string& row : {copy_row(8, "2", "2", "1", "1"), copy_row(8, "2", "2", "1", "NULL")})
    CHECK(rank_of(std::string(export_tables) + row).work[0].kind == line::WorkKind::memory);
}

TEST_CASE("nsys: memsets and graph launches") {
  const auto graph = [](std::int64_t begin) {
    return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES ({}, {}, 0, 1, 7, 3, {}, 4, 5);", begin,
                       begin + 50, process_100);
  };
  const std::string memset = fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (5, 6, 0, 1, 7, 2, {}, 0, 512, NULL, 2);", process_100);
  const std::string node_kernel = fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 5, {}, 1, 1, NULL, 8589934592);", process_100);
  const std::string base = std::string(export_tables) + names;

  const line::Timeline rank = rank_of(base + memset + graph(100) + graph(200));
  REQUIRE(rank.work.size() == 3);
  CHECK(rank.work[0].source == line::WorkSource::memset);
  CHECK(rank.work[0].kind == line::WorkKind::memory);
  CHECK(rank.work[0].direction == line::Direction::none);
  CHECK(rank.work[0].bytes == 512);
  CHECK(rank.work[1].source == line::WorkSource::graph_launch);
  CHECK(rank.work[1].kind == line::WorkKind::graph);
  CHECK(rank.graph_mode == line::GraphMode::graph);
  CHECK(count_of(rank, FindingCode::graph_level_tracing) == 2);
  CHECK(rank_of(base + memset).graph_mode == line::GraphMode::none);
  CHECK(rank_of(base + node_kernel).graph_mode == line::GraphMode::node);
  CHECK(rank_of(base + node_kernel + graph(100)).graph_mode == line::GraphMode::mixed);
}

// Why: the same correlation id is used by every process, and two processes may both call their GPU number 0.
TEST_CASE("nsys: every process with work is a rank, by ordinal and process id") {
  const auto kernel = [](int pid, int ordinal, std::int64_t begin) {
    return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, {}, 1, 7, 5, {}, 1, 1, NULL, NULL);",
                       begin, begin + 10, ordinal, std::int64_t{pid} << 24);
  };
  const auto call = [](int pid, std::int64_t begin) {
    return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, 0, {}, 5, 3, 0, NULL);", begin,
                       begin + 1, (std::int64_t{pid} << 24) + 1);
  };
  const Database database(std::string(export_tables) + names + kernel(300, 1, 100) + kernel(200, 0, 200) +
                          kernel(100, 1, 300) + kernel(250, 0, 400) + kernel(250, 3, 500) + call(100, 31) +
                          call(200, 21) + call(250, 41) + call(300, 11) + call(999, 1));
  const auto ranks = read_nsys(database.path());
  REQUIRE(ranks.has_value());
  REQUIRE(ranks->size() == 4);
  const std::int64_t first_begin[] = {200, 400, 300, 100};
  const std::int64_t call_begin[] = {21, 41, 31, 11};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const line::Timeline& rank = (*ranks)[i];
    CHECK(rank.work[0].begin == Nanos{first_begin[i]});
    REQUIRE(rank.work[0].call != line::none);
    CHECK(rank.calls[rank.work[0].call].begin == Nanos{call_begin[i]});
    CHECK(rank.has_host_calls);
  }
  CHECK((*ranks)[1].devices.size() == 2);
}

// Why: slimmed exports keep the columns that their tool needed; such a file is one process.
TEST_CASE("nsys: slim exports without processes, contexts and most columns") {
  const line::Timeline rank = rank_of(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm'), (2, "
      "'cudaLaunchKernel');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (kernel_name TEXT, shortName INTEGER, correlationId INTEGER, \"END\" "
      "INTEGER, start INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('x', 1, 5, 20, 10), ('y', 77, 6, 40, 30);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER, globalTid INTEGER, "
      "nameId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 5, 281474976710657, 2), (3, 4, 6, 281474993487873, 2);");
  REQUIRE(rank.work.size() == 2);
  CHECK(rank.name(rank.work[0].name) == "gemm");
  CHECK(rank.name(rank.work[1].name) == "y");  // its id is no id; the added column has the name
  CHECK(rank.work[0].call == 0);
  CHECK(rank.work[1].call == 1);
  CHECK(rank.devices[0].ordinal == 0);
  CHECK(rank.oddities.empty());
}

// Why: SQLite stores any type in any column; a value that is no integer must cost its row and nothing else.
TEST_CASE("nsys: rows with values of the wrong type are dropped and counted") {
  const line::Timeline rank = rank_of(std::string(
      "CREATE TABLE StringIds (id INTEGER, value TEXT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, "
      "demangledName, graphNodeId);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, bytes, "
      "copyKind);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId, eventClass);"
      "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, domainId);"
      "INSERT INTO StringIds VALUES (1, 'gemm'), ('2', 'text id'), (3, x'00ff'), (NULL, 'none');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 0, 1, NULL),"
      "('11x', 20, 0, 7, 1, 0, 1, NULL), (11.5, 20, 0, 7, 1, 0, 1, NULL), (x'0b', 20, 0, 7, 1, 0, 1, NULL),"
      "(NULL, 20, 0, 7, 1, 0, 1, NULL), (11, 'a', 0, 7, 1, 0, 1, NULL), (11, 20, 'a', 7, 1, 0, 1, NULL),"
      "(11, 20, 0, 'a', 1, 0, 1, NULL), (11, 20, 0, 7, 'a', 0, 1, NULL), (11, 20, 0, 7, 1, 'a', 1, NULL),"
      "(12, 20, NULL, NULL, NULL, NULL, x'61', 'a');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (30, 40, 0, 7, 2, 0, -1, 1), (30, 40, 0, 7, 2, 0, 'a', 1),"
      "(30, 40, 0, 7, 2, 0, 9223372036854775807, 1), (30, 40, 0, 7, 2, 0, 8, 'a');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ('1.5', 2, 1, 1, 1, 0), (1, 2, 'a', 1, 1, 0),"
      "(1, 2, 1, 'a', 1, 0), (1, 2, 1, 1, x'61', 'a');"
      "INSERT INTO NVTX_EVENTS VALUES ('0x1', 2, 59, 'a', 1, 0), (1, 'b', 59, 'a', 1, 0), (1, 2, 'c', 'a', 1, 0),"
      "(1, 2, 59, 'a', 'd', 0), (1, 2, 59, 'a', 1, 'e'), (1, 2, 59, x'61', 1, 0), (1, 2, 59, 'ok', 1, 0);"));
  REQUIRE(rank.work.size() == 3);
  CHECK(rank.name(rank.work[0].name) == "gemm");
  CHECK(rank.name(rank.work[1].name) == "unnamed kernel");
  CHECK(rank.work[2].direction == line::Direction::none);  // a copy of unknown kind
  CHECK(rank.work[0].call == 0);
  CHECK(rank.name(rank.calls[0].name) == "unnamed call");
  CHECK(rank.ranges.size() == 2);
  // 9 kernels, 3 copies, 3 calls and 5 ranges.
  CHECK(count_of(rank, FindingCode::invalid_text) == 20);
  CHECK(rank.oddities.at(FindingCode::invalid_text).work == 12);
  const auto& examples = rank.oddities.at(FindingCode::invalid_text).examples;
  REQUIRE(examples.size() == 3);
  CHECK(examples[0].find("CUPTI_ACTIVITY_KIND_KERNEL") != std::string::npos);
}

// Why: an export may be shuffled, repeated or damaged in its times; the numbers must not move.
TEST_CASE("nsys: unsorted, repeated and impossible rows") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::string rows[] = {kernel_row(300, 400, 3, 1), kernel_row(100, 200, 1, 1), kernel_row(100, 200, 1, 1),
                              kernel_row(0, 0, 9, 1),     kernel_row(500, 450, 4, 1), kernel_row(200, 300, 2, 1),
                              call_row(90, 95, 1, 3),     call_row(10, 15, 3, 3),     kernel_row(-most, most, 5, 1)};
  std::string sql = std::string(export_tables) + names;
  for (const std::string& row : rows) sql += row;
  std::string backwards = std::string(export_tables) + names;
  for (std::size_t i = std::size(rows); i > 0; --i) backwards += rows[i - 1];
  for (const std::string& text : {sql, backwards}) {
    const line::Timeline rank = rank_of(text);
    REQUIRE(rank.work.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(rank.work[i].begin == Nanos{static_cast<std::int64_t>(i) * 100 + 100});
    CHECK(rank.calls[rank.work[0].call].begin == Nanos{90});
    CHECK(rank.calls[rank.work[2].call].begin == Nanos{10});
    CHECK(count_of(rank, FindingCode::duplicate_events) == 1);
    CHECK(count_of(rank, FindingCode::zero_timestamps) == 1);
    CHECK(count_of(rank, FindingCode::negative_duration) == 1);
    CHECK(count_of(rank, FindingCode::invalid_text) == 1);
  }
}

TEST_CASE("nsys: exports without GPU work are one rank without work") {
  for (const char* sql : {export_tables, "CREATE TABLE StringIds (id INTEGER, value TEXT);",
                          "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER);"}) {
    const line::Timeline rank = rank_of(sql);
    CHECK(rank.work.empty());
    CHECK(rank.devices.empty());
    CHECK_FALSE(rank.has_host_calls);
  }
}

// Why: a file can hold as many processes as rows.
TEST_CASE("nsys: more processes than any machine runs are refused") {
  const Database database(std::string(export_tables) +
                          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i "
                          "+ 1 FROM n WHERE i < 1100) SELECT i, i + 1, 0, 1, 7, i, i << 24, 1, 1, NULL, NULL FROM n;");
  const auto read = read_nsys(database.path());
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == ErrorCode::malformed_trace);
  CHECK(read.error().message.find("1024 processes") != std::string::npos);
}

TEST_CASE("nsys: names of any bytes") {
  const line::Timeline rank = rank_of(std::string(export_tables) +
                                      "INSERT INTO StringIds VALUES (1, CAST(x'61ff62' AS TEXT)), (-5, "
                                      "CAST(x'631b5b33316d' AS TEXT)), (9000000000, '');" +
                                      kernel_row(1, 2, 1, 1) + kernel_row(3, 4, 2, -5));
  REQUIRE(rank.work.size() == 2);
  CHECK(rank.name(rank.work[0].name) ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(rank.name(rank.work[1].name) == "c\\x1b[31m");
}
