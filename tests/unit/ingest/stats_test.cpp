// The output of nsys stats: what is cut into tables, and what is refused.
#include <doctest/doctest.h>

#include <string>

#include "analyzer/ingest/ingest.hpp"
#include "analyzer/ingest/nsys_stats_tables.hpp"
#include "analyzer/ingest/stated_json.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "tests/unit/ingest/kineto_files.hpp"

using namespace traceweir;
using namespace traceweir::ingest;
using namespace traceweir::ingest::test;

namespace {

constexpr const char* header =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";

}  // namespace

// Why: the sniffer runs before the readers of JSON; it must take nothing that is theirs.
TEST_CASE("looks_like_nsys_stats: tables of all years, and nothing else") {
  for (const char* yes : {header, " Time(%)  Total Time (ns)  Instances  Average  Minimum  Maximum  Name\n -----\n",
                          "Generating x\nProcessing [a.sqlite] with [/x/cuda_gpu_kern_sum.py]... \n",
                          "\xEF\xBB\xBFRunning [/x/gpumemsizesum.py a.sqlite]... \n",
                          "[\n {\"Time (%)\": 1.0, \"Total Time (ns)\": 2}]", "[{\"Total (MB)\": 1.0}]"})
    CHECK(looks_like_nsys_stats(yes));
  for (const char* no : {"", "{\"traceEvents\": []}", "[{\"ph\": \"X\"}]", "[]", "[{}]", "a,b,c\n1,2,3\n",
                         "Processing [photos] with [mogrify]\n", "Name,Time (%),Count\n"})
    CHECK_FALSE(looks_like_nsys_stats(no));
}

// Why: a table that is half understood gives wrong sums; the row must be named.
TEST_CASE("read_nsys_stats: tables that do not hold together are refused") {
  struct Row {
    const char* name;
    std::string text;
    ErrorCode code;
    const char* says;
  };
  const std::string two = std::string(header) + "100.0,5,1,5.0,5.0,5,5,0.0,k\n";
  const Row rows[] = {
      {"a row that is cut", std::string(header) + "100.0,5,1\n", ErrorCode::malformed_trace, "line 2"},
      {"no count", std::string(header) + "100.0,5,none,5.0,5.0,5,5,0.0,k\n", ErrorCode::malformed_trace, "count"},
      {"a count of 0", std::string(header) + "100.0,5,0,5.0,5.0,5,5,0.0,k\n", ErrorCode::malformed_trace, "count"},
      {"below 0", std::string(header) + "100.0,-5,1,5.0,5.0,5,5,0.0,k\n", ErrorCode::malformed_trace, "total time"},
      {"past 64 bits", std::string(header) + "100.0,99999999999999999999,1,5.0,5.0,5,5,0.0,k\n",
       ErrorCode::malformed_trace, "total time"},
      {"least above greatest", std::string(header) + "100.0,5,1,5.0,5.0,7,5,0.0,k\n", ErrorCode::malformed_trace,
       "least"},
      {"the same table twice", two + "\n" + two, ErrorCode::malformed_trace, "twice"},
      {"a unit of no time", "Time (%),Total Time (parsec),Instances,Name\n1.0,5,1,k\n", ErrorCode::malformed_trace,
       "unit"},
      {"JSON that is cut", "[{\"Time (%)\": 1.0, \"Total Time (ns)\": 5, \"Instances\": 1, \"Name\": \"k\"}",
       ErrorCode::malformed_trace, "line 1"},
      {"JSON whose rows differ",
       "[{\"Time (%)\": 1.0, \"Total Time (ns)\": 5, \"Instances\": 1, \"Name\": \"k\"}, {\"Name\": \"j\"}]",
       ErrorCode::malformed_trace, "without"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const BytesFile file(row.text);
    const auto read = read_trace(file.path());
    REQUIRE_FALSE(read);
    CAPTURE(read.error().message);
    CHECK(read.error().code == row.code);
    CHECK(read.error().message.find(row.says) != std::string::npos);
  }
}

// Why: a pass on a part of the truth is worse than no verdict. What cannot show is a cut inside the last name.
TEST_CASE("read_nsys_stats: a table that is cut is refused or marked, at every byte") {
  const std::string rows =
      "50.0,500,1,500.0,500.0,500,500,0.0,a_kernel\n30.0,300,1,300.0,300.0,300,300,0.0,b_kernel\n"
      "20.0,200,2,100.0,100.0,90,110,14.1,last";
  const std::string text = header + rows;
  for (std::size_t size = 1; size < text.size() - std::string("last").size() + 1; ++size) {
    CAPTURE(size);
    const auto read = read_trace(BytesFile(text.substr(0, size)).path());
    const bool has_no_row = size <= std::string(header).size();
    if (!read || has_no_row) continue;
    CHECK(read->front().oddities.contains(FindingCode::truncated));
  }
  CHECK_FALSE(read_trace(BytesFile(text + "\n").path()).value().front().oddities.contains(FindingCode::truncated));
}

// Why: rows behind an array would be those of a table without columns.
TEST_CASE("stats_tables: an array in the middle of a table ends it") {
  const auto tables =
      stats_tables(std::string(header) + "100.0,5,1,5.0,5.0,5,5,0.0,k\n[]\n100.0,5,1,5.0,5.0,5,5,0.0,j\n");
  REQUIRE(tables.has_value());
  REQUIRE(tables->size() == 2);
  CHECK(tables->at(0).rows.size() == 1);
  CHECK(tables->at(1).rows.empty());
}

// Why: each of these took time by the square of its length, or memory that no child has.
TEST_CASE("stats_tables: long lines, many tables, many columns") {
  const auto times = [](std::size_t count, std::string_view text) {
    std::string out;
    for (out.reserve(count * text.size()); count > 0; --count) out += text;
    return out;
  };
  constexpr std::size_t many = 1 << 20;
  const std::string two = std::string(header) + "100.0,5,1,5.0,5.0,5,5,0.0,k";
  const auto commas = stats_tables(two + times(many, ",") + "\n");
  REQUIRE(commas.has_value());
  CHECK(commas->front().rows.front().back().size() == many + 1);
  CHECK(stats_tables(two + "\n\n" + times(many / 4, "[x\n") + times(many, " "))->size() == 1);
  CHECK(stats_tables(times(many, "Time (%),"))->empty());
  struct Row {
    std::string text;
    const char* says;
  };
  const Row rows[] = {
      {times(stats_tables_max + 1, "[]\n"), "tables"},
      {times(stats_tables_max + 1, "SKIPPED: x\n"), "tables"},
      {times(stats_tables_max + 1, header), "tables"},
      {"[{" + times(stats_columns_max, "\"a\": 1,") + "\"b\": 1}]", "columns"},
      {header + times(stats_rows_max + 1, "100.0,5,1,5.0,5.0,5,5,0.0,k\n"), "rows"},
      {"[" + times(stats_rows_max, "{},") + "{}]", "rows"},
  };
  for (const Row& row : rows) {
    const auto tables = stats_tables(row.text);
    REQUIRE_FALSE(tables.has_value());
    CHECK(tables.error().code == ErrorCode::malformed_trace);
    CHECK(tables.error().message.find(row.says) != std::string::npos);
  }
}

// Why: numbers of a table are text of any length; a time that is infinite can be in no report.
TEST_CASE("read_nsys_stats: medians and sizes beyond all times and sizes") {
  const std::string nines(305, '9');
  const std::string head = "Time (%),Total Time (ns),Instances,Med (s),Min (ns),Max (ns),Name\n";
  const auto read =
      read_trace(BytesFile(head + "100.0,10,4," + nines + ",1,5,ncclDevKernel_AllReduce_Sum_f16_RING_LL(x)\n").path());
  REQUIRE(read.has_value());
  CHECK_FALSE(read->front().sums->kernels->front().durations.median.has_value());
  const auto sizes =
      read_trace(BytesFile("Total (GB),Count,Operation\n" + nines + ",4,[CUDA memcpy Host-to-Device]\n").path());
  REQUIRE_FALSE(sizes.has_value());
  CHECK(sizes.error().message.find("size") != std::string::npos);
}

// Why: the formats' table looks at the beginning only; a reader takes whatever follows.
TEST_CASE("read_stated_json: documents without metrics") {
  for (const char* text : {"{}", "[]", "1", "\"metrics\"", R"({"metrics": {}, "metrics": {}})"}) {
    CAPTURE(text);
    const BytesFile file(text);
    auto input = TraceInput::open(file.path());
    REQUIRE(input.has_value());
    const auto read = read_stated_json(*input);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::bad_body);
  }
}

TEST_CASE("read_trace: values of one's own are checked one by one") {
  struct Row {
    const char* text;
    const char* says;
  };
  const Row rows[] = {
      {R"({"metrics": {}})", "none"},
      {R"({"metrics": []})", "object"},
      {R"({"metrics": {"gpu.idle": {"value": 1}}})", "custom."},
      {R"({"metrics": {"custom.": {"value": 1}}})", "custom."},
      {R"({"metrics": {"custom.a b": {"value": 1}}})", "letters"},
      {R"({"metrics": {"custom.a": 1}})", "needed"},
      {R"({"metrics": {"custom.a": {"unit": "s"}}})", "missing"},
      {R"({"metrics": {"custom.a": {"value": "1"}}})", "number"},
      {R"({"metrics": {"custom.a": {"value": 1e200}}})", "range"},
      {R"({"metrics": {"custom.a": {"value": 1, "unit": "a unit that is much too long"}}})", "unit"},
      {R"({"metrics": {"custom.a": {"value": 1, "better": "more"}}})", "better"},
      {R"({"metrics": {"custom.a": {"value": 1}, "custom.a": {"value": 2}}})", "twice"},
      {R"({"metrics": {"custom.a": {"value": 1}}, "traceEvents": []})", "traceEvents"},
      {R"({"metrics": {"custom.a": {"value": NaN}}})", "byte"},
      {R"({"metrics": {"custom.a": {"value": 1}})", "byte"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const BytesFile file(row.text);
    const auto read = read_trace(file.path());
    REQUIRE_FALSE(read);
    CAPTURE(read.error().message);
    CHECK(read.error().code == ErrorCode::bad_body);
    CHECK(read.error().message.find(row.says) != std::string::npos);
  }
  std::string many = R"({"metrics": {)";
  for (int i = 0; i < 201; ++i)
    many += (i == 0 ? "" : ", ") + ("\"custom.m" + std::to_string(i)) + R"(": {"value": 1})";
  CHECK(read_trace(BytesFile(many + "}}").path()).error().message.find("at most 200") != std::string::npos);
}
