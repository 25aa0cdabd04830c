#include <doctest/doctest.h>

#include <string>

#include "analyzer/ingest/ingest.hpp"
#include "analyzer/ingest/sniff.hpp"
#include "tests/unit/ingest/kineto_files.hpp"
#include "tests/unit/ingest/kineto_support.hpp"

using namespace traceweir;
using namespace traceweir::ingest;
using namespace traceweir::ingest::test;

TEST_CASE("looks_like_json: behind blanks and a byte-order mark") {
  CHECK(looks_like_json("{"));
  CHECK(looks_like_json(" \r\n\t[1]"));
  CHECK(looks_like_json("\xEF\xBB\xBF {}"));
  CHECK_FALSE(looks_like_json(""));
  CHECK_FALSE(looks_like_json("   "));
  CHECK_FALSE(looks_like_json("\"text\""));
  CHECK_FALSE(looks_like_json("SQLite format 3"));
}

// Why: the message is all that the owner of a wrong file sees; it must say what was found and what to do.
TEST_CASE("read_trace: what is refused, and how") {
  struct Row {
    const char* name;
    std::string bytes;
    ErrorCode code;
    const char* says;
  };
  const Row rows[] = {
      {"nothing", "", ErrorCode::empty_upload, "empty"},
      {"nothing inside gzip", gzipped(""), ErrorCode::empty_upload, "after decompression"},
      {"text", "hello, world", ErrorCode::unknown_format, "hello, world"},
      {"binary", std::string("\x00\x01\x02\x1B[31m", 8), ErrorCode::unknown_format, "\\x00\\x01"},
      {"a report of Nsight Systems", std::string("\x0A\x05", 2) + "QuadDCommon", ErrorCode::unsupported_format,
       "nsys export --type sqlite -o report.sqlite report.nsys-rep"},
      {"the same in gzip", gzipped("....QuadDAnalysis"), ErrorCode::unsupported_format, "nsys export"},
      {"a tar archive", "trace.json" + std::string(247, '\0') + "ustar" + std::string(40, '\0'),
       ErrorCode::unsupported_format, "tar"},
      {"a tar archive in gzip", gzipped("trace.json" + std::string(247, '\0') + "ustar" + std::string(40, '\0')),
       ErrorCode::unsupported_format, "tar"},
      {"a Perfetto trace", std::string("\x0A\x04\x08\x01\x10\x02\x0A\x02\x08\x03\x0A\x02\x08\x04", 14),
       ErrorCode::unsupported_format, "Perfetto"},
      {"a log of nvprof", "==123== Profiling application: ./a.out\n", ErrorCode::unsupported_format, "nvprof"},
      {"a table of rocprof", "\"Index\",\"KernelName\",\"gpu-id\"\n0,\"k\",1\n", ErrorCode::unsupported_format,
       "rocprof"},
      {"a trace of a browser", R"({"traceEvents": [{"ph": "X", "cat": "toplevel", "name": "x", "ts": 1, "dur": 1}]})",
       ErrorCode::not_a_trace, "PyTorch"},
      {"an archive", "PK\x03\x04....", ErrorCode::unsupported_format, "zip"},
      {"zstd that is none", "\x28\xB5\x2F\xFD....", ErrorCode::malformed_trace, "zstd"},
      {"zstd in gzip", gzipped("\x28\xB5\x2F\xFD...."), ErrorCode::unsupported_format, "zstd -d"},
      {"xz",
       "\xFD"
       "7zXZ....",
       ErrorCode::unsupported_format, "xz -d"},
      {"gzip in gzip", gzipped(gzipped("{}")), ErrorCode::unsupported_format, "twice"},
      {"a log-in page", "<!DOCTYPE html><html>", ErrorCode::unsupported_format, "HTML"},
      {"other JSON", R"({"a": 1})", ErrorCode::not_a_trace, "traceEvents"},
      {"the first bytes of gzip", "\x1F\x8B\x08", ErrorCode::malformed_trace, "cut at compressed byte 3"},
      {"something in a gzip's clothes", "\x1F\x8B junk that is long enough to be no header", ErrorCode::malformed_trace,
       "damaged"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const BytesFile file(row.bytes, ".json.gz");
    const auto ranks = read_trace(file.path());
    REQUIRE_FALSE(ranks);
    CAPTURE(ranks.error().message);
    CHECK(ranks.error().code == row.code);
    CHECK(ranks.error().message.find(row.says) != std::string::npos);
    CHECK(ranks.error().message.find('\x1B') == std::string::npos);
  }
  CHECK(read_trace("/nonexistent").error().code == ErrorCode::io_failed);
  CHECK(read_trace("/tmp").error().code == ErrorCode::io_failed);
}

// Why: where the bytes came from is stored with every result.
TEST_CASE("read_trace: the source is described, whatever the name of the file") {
  const std::string text = trace_of(kernel("k", "1", "2"));
  struct Row {
    std::string bytes;
    const char* suffix;
    const char* compression;
  };
  const Row rows[] = {{text, ".json.gz", "none"}, {gzipped(text), ".json", "gzip"}};
  for (const Row& row : rows) {
    const BytesFile file(row.bytes, row.suffix);
    const auto ranks = read_trace(file.path());
    REQUIRE(ranks);
    REQUIRE(ranks->size() == 1);
    const timeline::Timeline& rank = ranks->front();
    CHECK(rank.source.format == "kineto_json");
    CHECK(rank.source.compression == row.compression);
    CHECK(rank.source.bytes == static_cast<std::int64_t>(row.bytes.size()));
    CHECK(rank.work.size() == 1);
  }
}

// Why: a trace that is cut inside gzip is the same story as one that is cut outside.
TEST_CASE("read_trace: a gzip that is cut gives a truncated trace") {
  std::string events = kernel("k", "1", "2");
  for (int i = 0; i < 2000; ++i) events += "," + kernel("k" + std::to_string(i), std::to_string(i * 17 + 3), "2");
  const std::string packed = gzipped(trace_of(events));
  const BytesFile file(packed.substr(0, packed.size() * 3 / 4));
  const auto ranks = read_trace(file.path());
  REQUIRE(ranks);
  CHECK(oddities(ranks->front(), FindingCode::truncated) == 1);
  CHECK(ranks->front().work.size() > 100);
  CHECK(ranks->front().work.size() < 2001);

  const BytesFile tiny(gzipped(trace_of(kernel("k", "1", "2"))).substr(0, 60));
  CHECK(read_trace(tiny.path()).error().code == ErrorCode::malformed_trace);
}

// Why: exports of Nsight Systems come in gzip too, and SQLite cannot read them so.
TEST_CASE("read_trace: a database inside gzip reaches the reader of databases") {
  const std::string no_database = "SQLite format 3" + std::string(200, '\0');
  const BytesFile plain(no_database);
  const BytesFile packed(gzipped(no_database));
  const auto want = read_trace(plain.path());
  const auto got = read_trace(packed.path());
  REQUIRE_FALSE(want);
  REQUIRE_FALSE(got);
  CHECK(got.error().code == want.error().code);
  CHECK(got.error().code != ErrorCode::io_failed);
}
