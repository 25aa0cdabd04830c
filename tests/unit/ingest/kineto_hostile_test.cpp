#include <doctest/doctest.h>

#include <string>

#include "tests/unit/ingest/kineto_support.hpp"

using namespace traceweir;
using namespace traceweir::ingest::test;

namespace {

const std::string good = kernel("good", "1000", "10");

/// Rows of work and rows counted as invalid in a trace of `events`.
struct Outcome {
  std::size_t work;
  std::int64_t invalid;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_of(const std::string& events) {
  const auto read = read_text(trace_of(events));
  REQUIRE(read);
  return {read->work.size(), oddities(*read, FindingCode::invalid_text)};
}

}  // namespace

// Why: a row whose time cannot be trusted is worse than a row that is missing and counted.
TEST_CASE("a number that is none drops the row in a time field, and is only counted elsewhere") {
  struct Row {
    const char* name;
    std::string event;
    Outcome want;  // with one good row beside it
  };
  const Row rows[] = {
      {"ts is NaN", kernel("k", "NaN", "1"), {1, 1}},
      {"ts is text", kernel("k", "\"soon\"", "1"), {1, 1}},
      {"ts and dur are numbers in quotes", kernel("k", "\"5.5\"", "\"1\""), {2, 0}},
      {"ts is beyond 64 bits", kernel("k", "1e999", "1"), {1, 1}},
      {"ts is null", kernel("k", "null", "1"), {1, 1}},
      {"dur is Infinity", kernel("k", "1", "Infinity"), {1, 1}},
      {"dur is an object", kernel("k", "1", "{}"), {1, 1}},
      {"ts + dur overflow", kernel("k", "9223372036854775", "9223372036854775"), {1, 1}},
      {"no dur", R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1})", {1, 1}},
      {"correlation is beyond 64 bits", kernel("k", "1", "1", R"(, "correlation": 10159970886766084423)"), {2, 1}},
      {"correlation is text", kernel("k", "1", "1", R"(, "correlation": "x")"), {2, 1}},
      {"correlation is a number in quotes", kernel("k", "1", "1", R"(, "correlation": "6")"), {2, 0}},
      {"no device at all", R"({"ph": "X", "cat": "kernel", "name": "k", "pid": "Spans", "ts": 1, "dur": 1})", {1, 1}},
      {"NaN where nobody looks", kernel("k", "1", "1", R"(, "occupancy": NaN)"), {2, 1}},
      {"bytes that are none",
       R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "ts": 1, "dur": 1, "args": {"bytes": "x"}})",
       {2, 1}},
      {"a big number where nobody looks", kernel("k", "1", "1", R"(, "Comms Id": 10159970886766084423)"), {2, 0}},
      {"a lone surrogate in the name", kernel(R"(k\ud800)", "1", "1"), {2, 1}},
      {"args is null",
       R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "ts": 1, "dur": 1, "args": null})",
       {2, 0}},
      {"a nested value of a key of ours", kernel("k", "1", "1", R"(, "stream": {"a": [1]})"), {2, 0}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(outcome_of(row.event + "," + good) == row.want);
    CHECK(outcome_of(good + "," + row.event) == row.want);
  }
}

// Why: profilers write raw control characters, bad UTF-8 and invalid escapes, nearly always on rows that nobody needs;
// such a row must not take others with it, and a needed one is read all the same.
TEST_CASE("text that a strict parser refuses") {
  const std::string host =
      R"({"ph": "X", "cat": "python_function", "name": "@", "pid": 1, "tid": 1, "ts": 1, "dur": 1})";
  const auto with = [](std::string event, std::string_view name) { return event.replace(event.find('@'), 1, name); };
  struct Row {
    const char* name;
    std::string event;
    Outcome want;
  };
  const Row rows[] = {
      {"bad UTF-8 on a host row", with(host, "\xFF\xFE"), {2, 1}},
      {"a raw newline on a host row", with(host, "a\nb"), {2, 1}},
      {"an invalid escape on a host row", with(host, R"(C:\Users)"), {2, 0}},
      {"raw quotes on a host row", with(host, R"(operator "" x)"), {2, 0}},
      {"bad UTF-8 on a kernel", kernel("k\xFF", "1", "1"), {3, 1}},
      {"a raw newline on a kernel", kernel("k\n", "1", "1"), {3, 1}},
      {"raw quotes on a kernel", kernel(R"(operator "" x)", "1", "1"), {3, 1}},
      {"raw quotes with commas on a kernel", kernel(R"(f<"a", "b">)", "1", "1"), {3, 1}},
      {"a missing comma inside", R"({"ph": "X", "cat": "kernel" "name": "k", "ts": 1, "dur": 1})", {2, 1}},
      {"brackets of the wrong kind", R"({"ph": "X", "cat": "kernel", "args": [}})", {2, 1}},
      {"a number between events", "5", {2, 1}},
      {"a list between events", "[1, 2]", {2, 1}},
      {"an empty object", "{}", {2, 0}},
  };
  const std::string other = kernel("other", "2000", "10");
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(outcome_of(good + "," + row.event + "," + other) == row.want);
  }
  CHECK(outcome_of(good + " " + other) == Outcome{2, 1});   // no comma
  CHECK(outcome_of(good + ",," + other) == Outcome{2, 0});  // two
}

// Why: what was counted must not depend on where a read ended.
TEST_CASE("broken rows are counted the same, however the input is cut") {
  const std::string text = trace_of(good + "," + kernel("k\xFF", "1", "1") + " " + kernel("l", "NaN", "1") +
                                    ", 5, [1]," + kernel("m", "3", "4") + kernel("n", "5", "6") + ",,");
  const std::string want = text_of(*read_text(text));
  CHECK(want.find("odd invalid_text") != std::string::npos);
  for (std::size_t first = 1; first < text.size(); ++first) {
    CAPTURE(first);
    const auto read = read_text(text, {first, SIZE_MAX});
    REQUIRE(read);
    CHECK(oddities(*read, FindingCode::invalid_text) == oddities(*read_text(text), FindingCode::invalid_text));
    CHECK(read->work.size() == read_text(text)->work.size());
  }
}

// Why: a job that is killed leaves half a file. What is whole counts, with a flag; nothing whole is no trace.
TEST_CASE("a trace that is cut anywhere is truncated, malformed, or whole") {
  const std::string text =
      R"({"schemaVersion": 1, "traceEvents": [)" + good + ", " + kernel("k", "2000", "5") + R"(], "traceName": "x"})";
  const std::size_t first_whole = text.find(good) + good.size();
  for (std::size_t size = 1; size < text.size(); ++size) {
    CAPTURE(size);
    const auto read = read_text(text.substr(0, size));
    if (size < first_whole) {
      CHECK(error_of(read) == ErrorCode::malformed_trace);
      CHECK(read.error().message.find("byte ") != std::string::npos);
    } else {
      REQUIRE(read);
      CHECK(oddities(*read, FindingCode::truncated) == 1);
      CHECK(read->work.size() >= 1);
    }
  }
  CHECK(oddities(*read_text(text), FindingCode::truncated) == 0);
}

// Why: each of these reaches us as "the trace"; the person must learn which byte or key is wrong and what to do.
TEST_CASE("documents that are refused") {
  struct Row {
    const char* name;
    std::string text;
    ErrorCode code;
    const char* says;
  };
  const std::string many(2'000'000, '[');
  const Row rows[] = {
      {"no bytes that mean anything", "   ", ErrorCode::malformed_trace, "byte 3"},
      {"an object of something else", R"({"a": 1, "name": "x"})", ErrorCode::not_a_trace, "a, name"},
      {"an empty object", "{}", ErrorCode::not_a_trace, "traceEvents"},
      {"an empty array", "[]", ErrorCode::not_a_trace, "ph"},
      {"an array of arrays", "[[1, 2], [3, 4]]", ErrorCode::not_a_trace, "no events"},
      {"an array of numbers", "[1, 2, 3]", ErrorCode::not_a_trace, "no events"},
      {"an array of other objects", R"([{"a": 1}])", ErrorCode::not_a_trace, "ph"},
      {"traceEvents is no array", R"({"traceEvents": {"a": 1}})", ErrorCode::not_a_trace, "no array"},
      {"events that are no objects", R"({"traceEvents": [1, 2]})", ErrorCode::not_a_trace, "no events"},
      {"no event", R"({"traceEvents": []})", ErrorCode::not_a_trace, "no event that can be read"},
      {"empty objects", R"({"schemaVersion": 1, "traceEvents": [{}, {}]})", ErrorCode::not_a_trace, "no event that"},
      {"an event without a time", trace_of(kernel("k", "NaN", "1")), ErrorCode::malformed_trace, "no event that"},
      {"two documents", trace_of(good) + "\n" + trace_of(good), ErrorCode::malformed_trace, "one file per rank"},
      {"junk behind the trace", trace_of(good) + " x", ErrorCode::malformed_trace, "follows the end"},
      {"a missing colon", R"({"a" 1})", ErrorCode::malformed_trace, "byte 5"},
      {"a missing value", R"({"a": , "b": 1})", ErrorCode::malformed_trace, "byte 6"},
      {"a key without quotes", R"({a: 1})", ErrorCode::malformed_trace, "byte 1"},
      {"a missing comma", R"({"a": 1 "b": 2})", ErrorCode::malformed_trace, "byte 8"},
      {"a brace that closes the array", R"({"traceEvents": [{"ph": "X"}}, "a": 1})", ErrorCode::malformed_trace,
       "byte 28"},
      {"two million brackets", many, ErrorCode::malformed_trace, "nested deeper"},
      {"the same among the events", R"({"traceEvents": [)" + many, ErrorCode::malformed_trace, "nested deeper"},
      {"the same in another key", R"({"a": )" + many, ErrorCode::malformed_trace, "nested deeper"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto read = read_text(row.text);
    CHECK(error_of(read) == row.code);
    if (read) continue;
    CAPTURE(read.error().message);
    CHECK(read.error().message.find(row.says) != std::string::npos);
    CHECK(read.error().message.size() < 1000);
  }
}

// Why: a file may hold one endless string; memory is bounded by a limit that the message names.
TEST_CASE("huge values") {
  const std::string big(std::size_t{20} << 20, 'x');
  SUBCASE("in a key that nobody wants: passed over") {
    const auto read = read_text(R"({"a": ")" + big + R"(", )" + trace_of(good).substr(1));
    REQUIRE(read);
    CHECK(read->work.size() == 1);
  }
  SUBCASE("in a key of ours: passed over and counted") {
    const auto read =
        read_text(R"({"distributedInfo": {"rank": 1, "x": ")" + big + R"("}, )" + trace_of(good).substr(1));
    REQUIRE(read);
    CHECK(read->work.size() == 1);
    CHECK(oddities(*read, FindingCode::invalid_text) == 1);
  }
  SUBCASE("in an event: read") { CHECK(outcome_of(kernel(big, "1", "1") + "," + good) == Outcome{2, 0}); }
  SUBCASE("in an event, beyond the limit") {
    const auto read = read_text(trace_of(kernel(big + big + big + big, "1", "1")));
    CHECK(error_of(read) == ErrorCode::malformed_trace);
    CHECK(read.error().message.find("64 MiB") != std::string::npos);
  }
}

// Why: the reader's arithmetic and the builder's must hold for any 64-bit time.
TEST_CASE("extreme times") {
  CHECK(outcome_of(kernel("k", "-9223372036854775.808", "0") + "," + good) == Outcome{1, 1});
  CHECK(outcome_of(kernel("k", "-1", "-9223372036854775.808") + "," + good) == Outcome{1, 1});
  CHECK(outcome_of(kernel("k", "5", "-1") + "," + good) == Outcome{1, 0});  // counted as negative_duration
  CHECK(outcome_of(kernel("k", "0", "0") + "," + good) == Outcome{1, 0});   // counted as zero_timestamps
}

// Why: GPU work that is missing lowers every ratio, so that its share decides whether a run can be judged.
TEST_CASE("GPU work that is left out is counted as such; host rows are not") {
  struct Row {
    const char* name;
    std::string event;
    std::int64_t lost;
  };
  const Row rows[] = {
      {"no time", kernel("k", "NaN", "1"), 1},
      {"beyond every clock", kernel("k", "9000000000000000", "1"), 1},
      {"no device", R"({"ph": "X", "cat": "kernel", "name": "k", "pid": "Spans", "ts": 1, "dur": 1})", 1},
      {"a copy without a length", R"({"ph": "X", "cat": "gpu_memcpy", "name": "k", "pid": 0, "ts": 1})", 1},
      {"a kernel that is no JSON", R"({"ph": "X", "cat" : "Kernel", "name": "k", "ts": 1 "dur": 1})", 1},
      {"a host row that is no JSON", R"({"ph": "X", "cat": "cuda_runtime" "name": "k", "ts": 1})", 0},
      {"a call without a time", R"({"ph": "X", "cat": "cuda_runtime", "name": "k", "ts": NaN, "dur": 1})", 0},
      {"a number between events", "5", 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto read = read_text(trace_of(good + "," + row.event));
    REQUIRE(read);
    REQUIRE(oddities(*read, FindingCode::invalid_text) >= 1);
    CHECK(read->oddities.at(FindingCode::invalid_text).work == row.lost);
    CHECK(read->work.size() == 1);
  }
}

TEST_CASE("raw quotes in a name become part of it") {
  const auto read = read_text(trace_of(kernel(R"(f<"a", "b">)", "1", "2")));
  REQUIRE(read);
  REQUIRE(read->work.size() == 1);
  CHECK(read->name(read->work.front().name) == R"(f<"a", "b">)");
}

// Why: groups of different ranks may bear one name; matched together, their waits would be nobody's.
TEST_CASE("a process group is its name and its ranks") {
  const auto group = [](std::string_view more) {
    const std::string args = R"(, "Collective name": "allreduce", "Process Group Name": "tp")" + std::string(more);
    const auto read = read_text(trace_of(kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "1", "2", args)));
    REQUIRE(read);
    REQUIRE(read->messages.size() == 1);
    return read->messages.front().group;
  };
  const std::string first = group(R"(, "Process Group Ranks": "[0, 1]")");
  CHECK(group(R"(, "Process Group Ranks": [0,1], "Seq": 3)") == first);
  CHECK(group(R"(, "Process Group Ranks": [ 0, 1 ])") == first);
  CHECK(group(R"(, "Process Group Ranks": "[2, 3]")") != first);
  CHECK(group(R"(, "Process Group Ranks": [2, 3])") != first);
  CHECK(group("") == "tp");
  CHECK(group(R"(, "Process Group Ranks": null)") == "tp");
}
