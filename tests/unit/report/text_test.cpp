#include <doctest/doctest.h>

#include <sstream>

#include "analyzer/report/markdown.hpp"
#include "analyzer/report/quantities.hpp"
#include "tests/unit/report/reports.hpp"

namespace traceweir::report::test {

// Why: a number without its unit is read wrongly by somebody.
TEST_CASE("human: every number with its unit") {
  struct Row {
    double value;
    Unit unit;
    const char* want;
  };
  const Row rows[] = {{0.6801, Unit::ratio, "68.0 %"},
                      {0, Unit::ratio, "0.0 %"},
                      {0.00082, Unit::ratio, "0.08 %"},
                      {1, Unit::ratio, "100.0 %"},
                      {853, Unit::ns, "853 ns"},
                      {22'272, Unit::ns, "22.3 µs"},
                      {61'728'394, Unit::ns, "61.7 ms"},
                      {1'234'000'000, Unit::ns, "1.23 s"},
                      {1234.5, Unit::ns, "1.23 µs"},
                      {12, Unit::count, "12"},
                      {7.25, Unit::count, "7.25"},
                      {0, Unit::bytes, "0 B"},
                      {749'757, Unit::bytes, "732.2 KiB"},
                      {2097152, Unit::bytes, "2.00 MiB"},
                      {118.34, Unit::gb_per_s, "118.3 GB/s"}};
  for (const Row& row : rows) CHECK(human(row.value, row.unit) == row.want);
}

TEST_CASE("bar and shortened") {
  CHECK(bar(0.5, 4) == "██");
  CHECK(bar(1.0 / 32, 4) == "▏");
  CHECK(bar(7, 2) == "██");
  CHECK(bar(-1, 2).empty());
  CHECK(shortened("abcdefghij", 10) == "abcdefghij");
  CHECK(shortened("abcdefghij", 7) == "abcd…ij");
  CHECK(shortened("ääääääääää", 7) == "ääää…ää");
}

// Why: a person reads this in a terminal of 100 columns, and colours only where they were asked for.
TEST_CASE("to_table: what it shows") {
  const std::string text = to_table(full_report(), Paint::plain);
  for (const char* part :
       {"rank 0 of 2", "1 × NVIDIA A100-SXM4-80GB", "60.0 %", "data_loading", "ncclDevKernel", "few_steps (warning)",
        "Profile more steps.", "2 whole steps", "732.2 KiB", "input 20.0 %, sync 10.0 %, launch 5.0 %", "no_sizes"}) {
    CAPTURE(part);
    const bool is_reason = std::string_view(part) == "no_sizes";
    CHECK((text.find(part) != std::string::npos) != is_reason);  // reasons are given in words
  }
  CHECK(text.find("the trace does not tell message sizes: allreduce.busbw") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(to_table(full_report(), Paint::colour).find("\x1b[1m") != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(width_of(line) <= 100);
  }
}

// Why: names come from traces; in a job summary none may start markup, a link or a ping.
// Why: "how much, not when" is what a table of sums is; told of a trace of the host alone it sends people the wrong
// way.
TEST_CASE("to_table: why there is no window") {
  const auto shown = [](std::vector<metrics::Measurement> measured) {
    Report report = full_report();
    for (RankReport& rank : report.ranks) rank.window.reset(), rank.measurements = measured;
    return to_table(report, Paint::plain);
  };
  const auto row = [](const char* metric, NotMeasured why) {
    return metrics::Measurement{metric, std::nullopt, Unit::ratio, Better::higher, why};
  };
  const metrics::Measurement calls{"sync.count", Number{std::int64_t{7}}, Unit::count, Better::none, std::nullopt};
  const metrics::Measurement loss{"custom.loss", Number{0.4}, Unit::count, Better::lower, std::nullopt};
  const std::string host = shown({row("gpu.utilization", NotMeasured::no_gpu_work), calls});
  CHECK(host.find("none: no GPU work in this trace") != std::string::npos);
  CHECK(host.find("not when") == std::string::npos);
  for (const auto& amounts : {shown({row("gpu.utilization", NotMeasured::no_such_table), calls}),
                              shown({row("gpu.utilization", NotMeasured::no_gpu_work), loss})})
    CHECK(amounts.find("none: what is given tells how much, not when") != std::string::npos);
}

TEST_CASE("to_markdown: names stay text") {
  Report report = full_report();
  report.ranks[0].kernels[0].name = "a|b`c<img>@everyone #12 [x](http://y) *b*\nnew";
  const std::string text = to_markdown(report);
  CHECK(text.find("a&vert;b&grave;c&lt;img&gt;&commat;&ZeroWidthSpace;everyone &num;&ZeroWidthSpace;12 "
                  "&lbrack;x&rbrack;(http:&ZeroWidthSpace;//y) &ast;b&ast; new") != std::string::npos);
  CHECK(text.find("@everyone") == std::string::npos);
  CHECK(text.find("### rank 0 of 2") != std::string::npos);
  CHECK(text.find("| utilization | 60.0 % |") != std::string::npos);
}

}  // namespace traceweir::report::test
