// rocpd databases as rocprofv3 makes them, as an enemy would, and broken by chance.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>

#include "tests/unit/ingest/nsys_fixture.hpp"

namespace traceweir::test {
namespace {

namespace line = timeline;

/// Both layouts at once, which no version makes: either half of the columns may be NULL.
std::string tables(std::string_view uuid = "_0000abcd_1111") {
  return fmt::format(R"sql(
  CREATE TABLE rocpd_string{0} (id, string);
  CREATE TABLE rocpd_info_agent{0} (id, type, type_index, product_name);
  CREATE TABLE rocpd_info_kernel_symbol{0} (id, kernel_name, display_name);
  CREATE TABLE rocpd_event{0} (id, category_id, stack_id, extdata);
  CREATE TABLE rocpd_track{0} (id, pid, tid, agent_id, queue_id, stream_id);
  CREATE TABLE rocpd_timestamp{0} (id, value);
  CREATE TABLE rocpd_kernel_dispatch{0} (pid, tid, agent_id, stream_id, start, end, kernel_id, event_id,
    track_id, start_id, end_id);
  CREATE TABLE rocpd_memory_copy{0} (pid, tid, stream_id, start, end, name_id, src_agent_id, dst_agent_id, size, event_id);
  CREATE TABLE rocpd_region{0} (pid, tid, start, end, name_id, event_id);)sql",
                     uuid);
}

/// Two GPUs and a CPU, their strings and kernels, and an event with the correlation 1.
std::string job() {
  return tables() + R"sql(
  INSERT INTO rocpd_string_0000abcd_1111 VALUES (1,'HIP_RUNTIME_API'),(2,'MARKER_CORE_RANGE_API'),(3,'hipLaunchKernel'),
    (4,'roctxThreadRangeA'),(5,'MEMORY_COPY_DEVICE_TO_DEVICE'),(6,'MEMORY_COPY_HOST_TO_HOST'),
    (7,'MEMORY_COPY_DEVICE_TO_HOST'),(8,'roctxMarkA');
  INSERT INTO rocpd_info_agent_0000abcd_1111 VALUES (0,'CPU',0,'EPYC'),(1,'GPU',0,'MI300X'),(2,'GPU',1,'MI300X');
  INSERT INTO rocpd_info_kernel_symbol_0000abcd_1111 VALUES (1,'gemm.kd','gemm(float*)'),(2,'plain.kd','');
  INSERT INTO rocpd_event_0000abcd_1111 VALUES (1,1,1,'{}'),(2,2,2,'{"message": "forward"}'),(3,2,3,'no json');)sql";
}

std::string kernel(std::string_view values) {
  return fmt::format("INSERT INTO rocpd_kernel_dispatch_0000abcd_1111 VALUES ({});", values);
}
std::string copy(std::string_view values) {
  return fmt::format("INSERT INTO rocpd_memory_copy_0000abcd_1111 VALUES ({});", values);
}
std::string region(std::string_view values) {
  return fmt::format("INSERT INTO rocpd_region_0000abcd_1111 VALUES ({});", values);
}
const std::string one_kernel = kernel("70,71,1,4,100,200,1,1,NULL,NULL,NULL");

}  // namespace

TEST_CASE("rocpd: a kernel, its call and a range") {
  const line::Timeline rank = rank_of(job() + one_kernel + region("70,71,50,60,3,1") + region("70,71,40,300,4,2"));
  CHECK(rank.source.format == "rocpd_sqlite");
  CHECK(rank.source.producer == "rocprofv3");
  REQUIRE(rank.work.size() == 1);
  CHECK(rank.names[static_cast<std::size_t>(rank.work[0].name)] == "gemm(float*)");
  CHECK(rank.work[0].stream == 4);
  CHECK(rank.work[0].call == 0);
  CHECK(rank.devices[0].gpu == "MI300X");
  REQUIRE(rank.ranges.size() == 1);
  CHECK(rank.name(rank.ranges[0].name) == "forward");
  CHECK(rank.has_host_calls);
}

TEST_CASE("rocpd: a kernel without a display name has its symbol's name, one without a symbol is unnamed") {
  const line::Timeline rank =
      rank_of(job() + kernel("70,71,1,4,100,200,2,1,NULL,NULL,NULL") + kernel("70,71,1,4,200,300,9,1,NULL,NULL,NULL"));
  REQUIRE(rank.work.size() == 2);
  CHECK(rank.names[static_cast<std::size_t>(rank.work[0].name)] == "plain.kd");
  CHECK(rank.names[static_cast<std::size_t>(rank.work[1].name)] == "unnamed kernel");
  CHECK_FALSE(rank.has_host_calls);
}

TEST_CASE("rocpd: copies between GPUs are communication, those without a GPU are none of its work") {
  const line::Timeline rank = rank_of(job() + copy("70,71,4,100,200,5,1,2,64,1") + copy("70,71,4,300,400,5,1,1,64,1") +
                                      copy("70,71,4,500,600,6,0,0,64,1") + copy("70,71,4,700,800,7,2,0,64,1"));
  REQUIRE(rank.work.size() == 3);
  CHECK(rank.work[0].kind == line::WorkKind::comm);
  CHECK(rank.work[1].kind == line::WorkKind::memory);
  CHECK(rank.work[1].direction == line::Direction::d2d);
  CHECK(rank.work[2].direction == line::Direction::d2h);
  CHECK(rank.devices[static_cast<std::size_t>(rank.work[2].device)].ordinal == 1);
}

TEST_CASE("rocpd: processes with GPU work are ranks, in the order of their GPUs") {
  const Database database(job() + kernel("70,71,2,4,100,200,1,1,NULL,NULL,NULL") +
                          kernel("80,81,1,4,100,200,1,1,NULL,NULL,NULL") + region("90,91,40,300,4,2"));
  const auto ranks = read_nsys(database.path());
  REQUIRE(ranks.has_value());
  REQUIRE(ranks->size() == 2);
  CHECK(ranks->at(0).devices[0].ordinal == 0);
  CHECK(ranks->at(1).devices[0].ordinal == 1);
}

TEST_CASE("rocpd: no tables of work are a rank without work") {
  const line::Timeline rank = rank_of("CREATE TABLE rocpd_string_00 (id, string);");
  CHECK(rank.work.empty());
  CHECK_FALSE(rank.has_host_calls);
}

// Why: SQLite stores any type in any column, and ids may point nowhere.
TEST_CASE("rocpd: values of the wrong type are left out and counted") {
  struct Row {
    const char* name;
    std::string sql;
  };
  const Row rows[] = {
      {"a time that is text", kernel("70,71,1,4,'100 ns',200,1,1,NULL,NULL,NULL")},
      {"a time between two nanoseconds", kernel("70,71,1,4,100,200.5,1,1,NULL,NULL,NULL")},
      {"no time", kernel("70,71,1,4,100,NULL,1,1,NULL,NULL,NULL")},
      {"a time that is nowhere", kernel("70,71,1,4,NULL,NULL,1,1,NULL,5,6")},
      {"a process that is a blob", kernel("x'70',71,1,4,100,200,1,1,NULL,NULL,NULL")},
      {"a track that is nowhere", kernel("NULL,71,1,4,100,200,1,1,9,NULL,NULL")},
      {"a copy of fewer bytes than none", copy("70,71,4,100,200,5,1,2,-1,1")},
      {"a copy of all bytes there are", copy("70,71,4,100,200,5,1,2,9223372036854775807,1")},
      {"a copy whose size is text", copy("70,71,4,100,200,5,1,2,'many',1")},
      {"a region without a time", region("70,71,NULL,60,3,1")},
      {"times at the ends of time", kernel("70,71,1,4,-9223372036854775808,9223372036854775807,1,1,NULL,NULL,NULL")},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const line::Timeline rank = rank_of(job() + one_kernel + row.sql);
    CHECK(rank.work.size() == 1);
    CHECK(count_of(rank, FindingCode::invalid_text) == 1);
  }
}

TEST_CASE("rocpd: what only describes a row may be of any type") {
  const line::Timeline rank =
      rank_of(job() +
              "INSERT INTO rocpd_info_agent_0000abcd_1111 VALUES ('x','GPU',0,'y'),(7,7,'z',x'00'),(8,NULL,NULL,NULL);"
              "INSERT INTO rocpd_event_0000abcd_1111 VALUES ('a',1,1,'{}'),(9,'b','c',5),(1,2,77,'{}');"
              "INSERT INTO rocpd_string_0000abcd_1111 VALUES (NULL,'s'),(20,5),(9223372036854775807,'far');"
              "INSERT INTO rocpd_timestamp_0000abcd_1111 VALUES (2,20),(1,10),(1,5),('t',1),(3,'t');"
              "INSERT INTO rocpd_track_0000abcd_1111 VALUES (1,70,71,7,3,NULL),('x',1,1,1,1,1);" +
              kernel("NULL,NULL,NULL,NULL,NULL,NULL,9223372036854775807,9,1,1,2") +
              kernel("70,'t','a','s',30,40,'k','e',NULL,NULL,NULL"));
  REQUIRE(rank.work.size() == 2);
  CHECK(rank.work[0].span() == Interval{Nanos{10}, Nanos{20}});  // of two times with one id the first counts
  CHECK(rank.work[0].stream == 3);                               // no stream: its queue
  CHECK(rank.work[1].stream == 0);
}

TEST_CASE("rocpd: marks, names and messages that are no text are no ranges") {
  const line::Timeline rank =
      rank_of(job() +
              "INSERT INTO rocpd_event_0000abcd_1111 VALUES (10,2,10,'{\"message\": 5}'),(11,2,11,'[]'),"
              "(12,2,12,NULL),(13,2,13,'{\"message\": \"step 1\"}');" +
              one_kernel + region("70,71,40,300,4,3") + region("70,71,40,300,4,10") + region("70,71,40,300,4,11") +
              region("70,71,40,300,4,12") + region("70,71,40,300,8,13") + region("70,71,40,300,99,2"));
  CHECK(rank.ranges.empty());
}

TEST_CASE("rocpd: what is refused") {
  struct Row {
    const char* name;
    std::string sql;
    ErrorCode want;
    const char* message;
  };
  const std::string strings = "CREATE TABLE rocpd_string_00 (id, string);";
  const Row rows[] = {
      {"a view in place of a table",
       strings +
           "CREATE VIEW rocpd_kernel_dispatch_00 AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
           "SELECT i AS start FROM n;",
       ErrorCode::malformed_trace, "rocpd_kernel_dispatch_00 is not a plain table"},
      {"a view in place of a table of another uuid", strings + "CREATE VIEW rocpd_event_ff AS SELECT 1 AS id;",
       ErrorCode::malformed_trace, "rocpd_event_ff is not a plain table"},
      {"a virtual table", strings + "CREATE VIRTUAL TABLE rocpd_region_00 USING fts5(start, end);",
       ErrorCode::malformed_trace, "virtual table"},
      {"a trigger",
       strings + "CREATE TRIGGER t AFTER INSERT ON rocpd_string_00 BEGIN DELETE FROM rocpd_string_00; END;",
       ErrorCode::malformed_trace, "trigger"},
      {"two captures", tables("_aa") + tables("_bb"), ErrorCode::unsupported_format, "2 captures"},
      {"tables without uuid, of an older tool", "CREATE TABLE rocpd_api (id); CREATE TABLE rocpd_string (id, string);",
       ErrorCode::unsupported_format, "no uuid"},
      {"tables that only begin like ours", "CREATE TABLE rocpd_string_0x (id); CREATE TABLE rocpd_string_ (id);",
       ErrorCode::unsupported_format, "no uuid"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Database database(row.sql);
    const auto read = read_nsys(database.path());
    REQUIRE_FALSE(read.has_value());
    CAPTURE(read.error().message);
    CHECK(read.error().code == row.want);
    CHECK(read.error().message.find(row.message) != std::string::npos);
  }
}

// Why: every database of rocprofv3 has views that are called as its tables are without the uuid.
TEST_CASE("rocpd: views beside the tables are passed over, not run") {
  const line::Timeline rank =
      rank_of(job() + one_kernel +
              "CREATE VIEW rocpd_kernel_dispatch AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
              "SELECT i FROM n;"
              "CREATE VIEW kernels AS SELECT json_extract(extdata, '$.a') FROM rocpd_event_0000abcd_1111;"
              "CREATE INDEX by_id ON rocpd_event_0000abcd_1111 (id);");
  CHECK(rank.work.size() == 1);
}

TEST_CASE("rocpd: damage by chance is read or refused with a reason") {
  const Database whole(job() + one_kernel + region("70,71,50,60,3,1") + copy("70,71,4,100,200,5,1,2,64,1"));
  const std::string bytes = bytes_of(whole.path());
  std::mt19937 random(20261129);
  const TemporaryFolder folder;
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    std::string broken = bytes;
    for (int hit = 0; hit < 4; ++hit) broken[random() % broken.size()] = static_cast<char>(random());
    if (i % 5 == 0) broken.resize(random() % broken.size());
    write_bytes(folder.path() / "broken.db", broken);
    const auto read = read_nsys(folder.path() / "broken.db");
    if (!read) {
      CHECK_FALSE(read.error().message.empty());
      continue;
    }
    for (const line::Timeline& rank : *read)
      for (const line::Work& work : rank.work) CHECK(static_cast<std::size_t>(work.device) < rank.devices.size());
  }
}

}  // namespace traceweir::test
