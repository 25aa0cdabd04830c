#include "cli/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <vector>

#include "analyzer/core/text.hpp"
#include "server/wire/junit.hpp"
#include "server/wire/run_markdown.hpp"

namespace traceweir::cli {
namespace {

struct OutputRow {
  const char* option;
  std::string OutputFiles::*file;
  std::string (*text)(const Outcome& outcome);
};
constexpr OutputRow rows[] = {
    {"--markdown", &OutputFiles::markdown, [](const Outcome& o) { return wire::run_markdown(o.run, o.address); }},
    {"--junit", &OutputFiles::junit, [](const Outcome& o) { return wire::junit_xml(o.run, o.address); }},
    {"--dotenv", &OutputFiles::dotenv, [](const Outcome& o) { return dotenv_outputs(o); }},
};

bool write(const std::string& file, std::string_view text, std::ios::openmode mode) {
  std::ofstream out(file, std::ios::binary | mode);
  out << text;
  out.close();
  return out.good();
}

void say_failed(std::string_view what, const std::string& file) {
  fmt::print(stderr, "traceweir: {}: {} cannot be written\n", what, clean_text(file));
}

struct Value {
  const char* name;
  std::string text;
};
std::vector<Value> values_of(const Outcome& outcome) {
  const wire::RunAnswer& run = outcome.run;
  const std::string url = outcome.address.empty() || run.html.empty() ? "" : outcome.address + run.html;
  const std::string summary = run.verdict ? run.verdict->verdict.summary : run.error ? run.error->message : run.status;
  const std::string without =
      run.error ? wire::is_away(*run.error) ? "unreachable" : "rejected" : clean_text(run.status);
  return {{"outcome", run.verdict ? std::string(gate::word(run.verdict->verdict.outcome)) : without},
          {"exit-code", std::to_string(outcome.exit_code)},
          {"run-id", clean_text(run.id)},
          {"run-url", clean_text(url, 2048)},
          {"summary", clean_text(summary, 2048)}};
}

std::string variable_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return "TRACEWEIR_" + name;
}

}  // namespace

std::string github_outputs(const Outcome& outcome) {
  std::string text;
  for (const Value& value : values_of(outcome)) text += fmt::format("{}={}\n", value.name, value.text);
  return text;
}

std::string dotenv_outputs(const Outcome& outcome) {
  std::string text;
  for (const Value& value : values_of(outcome)) text += fmt::format("{}={}\n", variable_of(value.name), value.text);
  return text;
}

Result<void> check_outputs(const OutputFiles& files) {
  for (const OutputRow& row : rows)
    if (const std::string& file = files.*row.file; !file.empty() && !write(file, "", std::ios::app))
      return fail(ErrorCode::usage, fmt::format("{}: {} cannot be written", row.option, clean_text(file)));
  return {};
}

void write_outputs(const Outcome& outcome, const OutputFiles& files, const Variables& variables) {
  for (const OutputRow& row : rows)
    if (const std::string& file = files.*row.file; !file.empty() && !write(file, row.text(outcome), std::ios::trunc))
      say_failed(row.option, file);
  const std::string summary = variables("GITHUB_STEP_SUMMARY"), output = variables("GITHUB_OUTPUT");
  if (!summary.empty() && !write(summary, wire::run_markdown(outcome.run, outcome.address) + "\n", std::ios::app))
    say_failed("GITHUB_STEP_SUMMARY", summary);
  if (!output.empty() && !write(output, github_outputs(outcome), std::ios::app)) say_failed("GITHUB_OUTPUT", output);
}

}  // namespace traceweir::cli
