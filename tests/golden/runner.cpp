// golden_runner FOLDER [--report]: reads the case's trace, measures it and compares. Prints one line, or what differs.
// --report prints the report instead, for working out a new case.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ingest/ingest.hpp"
#include "analyzer/report/report.hpp"
#include "tests/golden/expectation.hpp"
#include "tests/golden/input.hpp"

namespace traceweir::golden {
namespace {

using nlohmann::json;

json expectation_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "expect.json");
  return json::parse(file);
}

Result<metrics::MeasureOptions> options_of(const json& expected) {
  metrics::MeasureOptions options;
  const json asked = expected.value("options", json::object());
  if (asked.contains("steps")) options.steps = asked["steps"].get<std::string>();
  if (asked.contains("skip_steps")) options.skip_steps = asked["skip_steps"].get<std::int64_t>();
  if (asked.contains("window")) return metrics::with_window(options, asked["window"].get<std::string>());
  return options;
}

Result<report::Report> report_of_files(const std::vector<std::filesystem::path>& files,
                                       const metrics::MeasureOptions& options) {
  std::vector<timeline::Timeline> timelines;
  for (const std::filesystem::path& file : files) {
    TRACEWEIR_TRY(ranks, ingest::read_trace(file));
    std::move(ranks.begin(), ranks.end(), std::back_inserter(timelines));
  }
  const std::vector<report::TraceFacts> facts(timelines.size());
  return report::report_of(timelines, facts, options);
}

/// Every report must survive its way through JSON, whatever the case is about.
void check_round_trip(const std::string& text, std::vector<std::string>& wrong) {
  const auto again = report::from_json(text);
  if (!again)
    wrong.push_back("the report cannot be read back: " + again.error().message);
  else if (report::to_json(*again) != text)
    wrong.push_back("the report reads back as another one");
}

std::vector<std::string> wrong_with(const Result<report::Report>& result, const json& expected) {
  if (!result) {
    const std::string got(word(result.error().code));
    if (expected.value("error", "") == got) return {};
    return {"refused: " + got + ": " + result.error().message};
  }
  if (expected.contains("error")) return {"expected " + expected["error"].dump() + ", got a report"};
  const std::string text = report::to_json(*result);
  std::vector<std::string> wrong = differences(expected, json::parse(text));
  check_round_trip(text, wrong);
  return wrong;
}

bool is_explained(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::file_size(folder / "why.md", error) > 40 && !error;
}

int run(const std::filesystem::path& folder, bool prints_report) {
  const std::string name = folder.parent_path().filename().string() + "/" + folder.filename().string();
  const json expected = expectation_of(folder);
  const Input input(folder);
  const auto options = options_of(expected);
  if (!options) throw std::runtime_error(options.error().message);
  const auto result = report_of_files(input.paths(), *options);
  if (prints_report && result) std::printf("%s\n", report::to_json(*result, 1).c_str());
  std::vector<std::string> wrong = wrong_with(result, expected);
  if (!is_explained(folder)) wrong.push_back("why.md does not say how the values were found");
  std::printf("golden %s: %s\n", name.c_str(), wrong.empty() ? "ok" : "DIFFERS");
  for (const std::string& line : wrong) std::printf("  %s\n", line.c_str());
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace traceweir::golden

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: golden_runner FOLDER [--report]\n");
    return 2;
  }
  try {
    const bool prints_report = argc > 2 && std::string_view(argv[2]) == "--report";
    return traceweir::golden::run(std::filesystem::canonical(argv[1]), prints_report);
  } catch (const std::exception& error) {
    std::printf("golden %s: broken case: %s\n", argv[1], error.what());
    return 1;
  }
}
