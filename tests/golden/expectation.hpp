// For: comparing a report with what a golden case expects of it. Not for: making either.
//
// expect.json: {"error": "<word>"}, or what is expected of the one rank, or {"ranks": [...], "run": {"metrics":
// {...}}}; "options" asks for a window, a step pattern or a number of skipped steps. Of a rank:
//   metrics    id → number, "5/22" (a fraction), or {"not_measured": "<reason>"}; others are not looked at
//   findings   code → severity; all that there are
//   breakdown  all terms, in any order
//   others     keys of the report's rank; of objects only the keys given here are looked at
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace traceweir::golden {

/// What differs, one line each; empty: as expected. `report`: the report as JSON.
std::vector<std::string> differences(const nlohmann::json& expected, const nlohmann::json& report);

}  // namespace traceweir::golden
