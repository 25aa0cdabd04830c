// For: a run as a JUnit report, which GitLab, Jenkins and others show beside the tests: one test case per metric.
// Not for: people (run_markdown.hpp).
#pragma once

#include <string>
#include <string_view>

#include "server/wire/run_document.hpp"

namespace traceweir::wire {

/// Shape: `fail` is a failure with value, limit and baseline; what was not judged is skipped; a run without a verdict
/// is one case with an error. XML 1.0 in UTF-8, whatever the names hold.
std::string junit_xml(const RunAnswer& run, std::string_view address);

}  // namespace traceweir::wire
