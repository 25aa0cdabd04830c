#include "server/meters/meters.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "server/meters/process.hpp"

namespace traceweir::meters {
namespace {

/// The value of a line `name value`, or nothing.
std::string value_of(const std::string& text, const std::string& series) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(series + " ")) return line.substr(series.size() + 1);
  return "";
}

TEST_CASE("requests are counted by route and never by what a client writes") {
  Meters meters;
  meters.request({"/api/v1/projects/{project}/runs", "POST", 201, std::chrono::milliseconds(30), 1000, 50});
  meters.request({"/api/v1/projects/{project}/runs", "POST", 201, std::chrono::milliseconds(3), 500, 50});
  // Why: a path that no route has, and a method that is the client's own text, must not make series without end.
  for (int i = 0; i < 1000; ++i) meters.request({"", "M" + std::to_string(i), 404, {}, 0, 10});
  const std::string text = meters.text({});
  CHECK(
      value_of(
          text,
          "traceweir_http_requests_total{method=\"POST\",route=\"/api/v1/projects/{project}/runs\",status=\"201\"}") ==
      "2");
  CHECK(value_of(text, "traceweir_http_received_bytes_total{route=\"/api/v1/projects/{project}/runs\"}") == "1500");
  CHECK(value_of(text, "traceweir_http_requests_total{method=\"other\",route=\"none\",status=\"404\"}") == "1000");
  CHECK(value_of(text,
                 "traceweir_http_request_duration_seconds_bucket{route=\"/api/v1/projects/{project}/runs\","
                 "le=\"0.005\"}") == "1");
  CHECK(text.size() < 16 * 1024);
}

TEST_CASE("runs are counted by result, from zero on") {
  Meters meters;
  CHECK(value_of(meters.text({}), "traceweir_runs_total{result=\"fail\"}") == "0");
  meters.run("fail");
  meters.run_error("store_unavailable");
  meters.run_duration(std::chrono::seconds(3));
  const std::string text = meters.text({});
  CHECK(value_of(text, "traceweir_runs_total{result=\"fail\"}") == "1");
  CHECK(value_of(text, "traceweir_run_errors_total{code=\"store_unavailable\"}") == "1");
  CHECK(value_of(text, "traceweir_run_duration_seconds_count") == "1");
}

TEST_CASE("each reason of a failed try is counted from zero on, and there are no others") {
  Meters meters;
  for (const std::string_view code : run_error_codes()) {
    CAPTURE(code);
    const std::string series = "traceweir_run_errors_total{code=\"" + std::string(code) + "\"}";
    CHECK(value_of(meters.text({}), series) == "0");
    meters.run_error(code);
    CHECK(value_of(meters.text({}), series) == "1");
  }
  // Why: a series that begins with its first event is not seen to increase.
  meters.run_error("bad_body");
  CHECK(meters.text({}).find("bad_body") == std::string::npos);
  CHECK(value_of(meters.text({}), "traceweir_run_errors_total{code=\"internal\"}") == "2");
}

TEST_CASE("levels are those of the moment") {
  const Meters meters;
  Levels levels;
  levels.store_ready = true;
  levels.queue_depth = 7;
  CHECK(value_of(meters.text(levels), "traceweir_queue_depth") == "7");
  CHECK(value_of(meters.text(levels), "traceweir_store_ready") == "1");
  CHECK(value_of(meters.text({}), "traceweir_queue_depth") == "0");
}

TEST_CASE("the process is this one") {
  const Process process = this_process();
  CHECK(process.resident_bytes > 1'000'000);
  CHECK(process.open_descriptors >= 3);
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  CHECK(process.start_seconds > now - 3600);
  CHECK(process.start_seconds < now + 2);
}

}  // namespace
}  // namespace traceweir::meters
