#include "server/wire/junit.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/core/text.hpp"
#include "server/wire/rule_cells.hpp"

namespace traceweir::wire {
namespace {

struct Entity {
  char character;
  std::string_view text;
};
constexpr Entity entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};

/// Control characters are gone after clean_text; U+FFFE and U+FFFF are the last that XML does not take.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::string_view three = text.substr(i, 3); three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      out += "\xEF\xBF\xBD";
      i += 2;
      continue;
    }
    std::string_view entity;
    for (const Entity& row : entities)
      if (row.character == text[i]) entity = row.text;
    out += entity.empty() ? std::string(1, text[i]) : std::string(entity);
  }
  return out;
}

std::string cleaned(std::string_view text) { return escaped(clean_text(text, 2048)); }

/// Value, baseline, tolerance and advice, a line each.
std::string details_of(const gate::RuleResult& rule) {
  const RuleCells cells = cells_of(rule);
  std::string text = fmt::format("value: {}\nbaseline: {}{}\nchange: {}\ntolerance: {}\n", cells.value, cells.baseline,
                                 cells.runs.empty() ? "" : " (" + cells.runs + ")", cells.delta, cells.tolerance);
  if (!rule.next.empty()) text += "next: " + clean_text(rule.next, 2048) + "\n";
  return escaped(text);
}

std::string sentence_of(const gate::RuleResult& rule) {
  return cleaned(rule.sentence.empty() ? cells_of(rule).reason : rule.sentence);
}

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

std::string body_of(const gate::RuleResult& rule, Counts& counts) {
  const std::string_view outcome = outcome_word(rule);
  if (outcome == "fail") {
    ++counts.failures;
    return fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", gate::word(rule.reason), sentence_of(rule),
                       details_of(rule));
  }
  if (outcome == "inconclusive" || outcome == "n/a") {
    ++counts.skipped;
    return fmt::format("<skipped message=\"{}: {}\"/>", cleaned(cells_of(rule).reason), sentence_of(rule));
  }
  return fmt::format("<system-out>{}{}</system-out>", outcome == "warn" ? "warning: " + sentence_of(rule) + "\n" : "",
                     details_of(rule));
}

std::string case_of(const RunAnswer& run, std::string_view name, std::string_view body) {
  return fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"0\">{}</testcase>\n", cleaned(run.project),
                     cleaned(run.workload), cleaned(name), body);
}

std::string cases_of(const RunAnswer& run, Counts& counts) {
  std::string cases;
  if (!run.verdict || run.verdict->verdict.rules.empty()) {
    counts.tests = 1;
    const std::string why = run.error     ? fmt::format("{}: {}", word(run.error->code), run.error->message)
                            : run.verdict ? run.verdict->verdict.summary
                                          : "there is no verdict: the run is " + run.status;
    const bool skipped = run.verdict.has_value() || run.let_pass;
    ++(skipped ? counts.skipped : counts.errors);
    return case_of(run, "verdict", fmt::format("<{} message=\"{}\"/>", skipped ? "skipped" : "error", cleaned(why)));
  }
  for (const gate::RuleResult& rule : run.verdict->verdict.rules) {
    ++counts.tests;
    cases += case_of(run, cells_of(rule).metric, body_of(rule, counts));
  }
  return cases;
}

}  // namespace

std::string junit_xml(const RunAnswer& run, std::string_view address) {
  Counts counts;
  const std::string cases = cases_of(run, counts);
  const std::string numbers = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", counts.tests,
                                          counts.failures, counts.errors, counts.skipped);
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format("<testsuites name=\"traceweir\" {}>\n", numbers);
  xml += fmt::format("  <testsuite name=\"traceweir: {}/{}\" {} time=\"0\">\n", cleaned(run.project),
                     cleaned(run.workload), numbers);
  xml += "    <properties>\n";
  const std::pair<std::string_view, std::string> properties[] = {
      {"run", run.id},
      {"commit", run.commit},
      {"branch", run.branch},
      {"outcome", run.verdict ? std::string(gate::word(run.verdict->verdict.outcome)) : run.status},
      {"summary", run.verdict ? run.verdict->verdict.summary : ""},
      {"url", address.empty() ? "" : std::string(address) + run.html}};
  for (const auto& [name, value] : properties)
    if (!value.empty()) xml += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, cleaned(value));
  xml += "    </properties>\n";
  return xml + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace traceweir::wire
