#include <doctest/doctest.h>

#include <string>

#include "server/wire/annotations.hpp"
#include "server/wire/junit.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/run_markdown.hpp"

using namespace traceweir;
using namespace traceweir::wire;

namespace {

RunAnswer without_verdict(ErrorCode code) {
  RunAnswer run;
  run.project = "llama";
  run.workload = "default";
  run.commit = std::string(40, 'a');
  run.branch = "main";
  run.error = Error{code, "the reason"};
  return run;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("no verdict: a service that is away is not a run that was rejected") {
  for (const ErrorCode code :
       {ErrorCode::unreachable, ErrorCode::queue_full, ErrorCode::store_unavailable, ErrorCode::disk_full,
        ErrorCode::request_timeout, ErrorCode::quota_exceeded, ErrorCode::too_many_uploads}) {
    const std::string text = run_markdown(without_verdict(code), "http://service");
    CHECK(has(text, "⚠️ Traceweir: no verdict · llama / default"));
    CHECK(has(text, std::string(word(code)) + ": the reason"));
    CHECK(!has(text, "rejected"));
    CHECK(!has(text, "❌"));
    CHECK(has(text, "<sub>commit aaaaaaaaaaaa on main</sub>"));
  }
  for (const ErrorCode code : {ErrorCode::malformed_trace, ErrorCode::forbidden}) {
    const std::string text = run_markdown(without_verdict(code), "http://service");
    CHECK(has(text, "❌ Traceweir: rejected"));
    CHECK(has(text, "on main</sub>"));
  }
}

TEST_CASE("no verdict: what may pass is warned about and not red") {
  RunAnswer run = without_verdict(ErrorCode::unreachable);
  CHECK(has(github_annotations(run, ""), "::error "));
  CHECK(has(junit_xml(run, ""), "errors=\"1\" skipped=\"0\""));
  CHECK(!has(run_markdown(run, ""), "goes on"));
  run.let_pass = true;
  CHECK(has(github_annotations(run, ""), "::warning "));
  CHECK(!has(github_annotations(run, ""), "::error "));
  CHECK(has(junit_xml(run, ""), "errors=\"0\" skipped=\"1\""));
  CHECK(has(run_markdown(run, ""), "goes on without a verdict"));
}
