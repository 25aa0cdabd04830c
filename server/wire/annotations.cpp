#include "server/wire/annotations.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

#include "analyzer/core/text.hpp"
#include "server/wire/rule_cells.hpp"

namespace traceweir::wire {
namespace {

struct Escape {
  char character;
  std::string_view text;
  bool in_properties_only;
};
constexpr Escape escapes[] = {
    {'%', "%25", false}, {'\r', "%0D", false}, {'\n', "%0A", false}, {':', "%3A", true}, {',', "%2C", true}};

enum class Place { message, property };

std::string escaped(std::string_view text, Place place) {
  std::string out;
  for (const char c : text) {
    std::string_view escape;
    for (const Escape& row : escapes)
      if (row.character == c && (place == Place::property || !row.in_properties_only)) escape = row.text;
    out += escape.empty() ? std::string(1, c) : std::string(escape);
  }
  return out;
}

/// One command. `title` and `message` are anything.
std::string line_of(std::string_view kind, std::string_view title, std::string_view message) {
  return fmt::format("::{} title={}::{}\n", kind, escaped(clean_text(title, 200), Place::property),
                     escaped(message, Place::message));
}

/// In a project that only observes nothing fails, so nothing is red.
std::string_view kind_of(const gate::RuleResult& rule, const VerdictDocument& document) {
  if (!rule.outcome || *rule.outcome == gate::Outcome::pass) return "";
  if (*rule.outcome == gate::Outcome::fail) return document.mode == "observe" ? "warning" : "error";
  return *rule.outcome == gate::Outcome::inconclusive && document.verdict.learning ? "notice" : "warning";
}

std::string message_of(const gate::RuleResult& rule, const std::string& link) {
  std::string message = clean_text(rule.sentence.empty() ? cells_of(rule).reason : rule.sentence, 1024);
  if (!rule.next.empty()) message += "\nNext: " + clean_text(rule.next, 1024);
  return message + (link.empty() ? "" : "\n" + link);
}

}  // namespace

std::string github_annotations(const RunAnswer& run, std::string_view address) {
  const std::string link = address.empty() || run.html.empty() ? "" : std::string(address) + clean_text(run.html, 512);
  const std::string about = fmt::format("{} / {}", run.project, run.workload);
  if (run.error)
    return line_of(run.let_pass ? "warning" : "error", "Traceweir: " + about,
                   fmt::format("{}: {}", word(run.error->code), clean_text(run.error->message, 2048)));
  if (!run.verdict) return line_of("warning", "Traceweir: " + about, "there is no verdict: the run is " + run.status);
  std::string lines;
  std::map<std::string_view, std::size_t> counts;
  for (const gate::RuleResult& rule : run.verdict->verdict.rules) {
    const std::string_view kind = kind_of(rule, *run.verdict);
    if (kind.empty() || ++counts[kind] > annotations_max) continue;
    lines += line_of(kind, fmt::format("Traceweir: {} ({})", cells_of(rule).metric, about), message_of(rule, link));
  }
  return lines;
}

std::string inert_for_runner(std::string_view text) {
  std::string out;
  bool at_begin = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool command = text.substr(i, 3) == "##[" || (at_begin && text.substr(i, 2) == "::");
    out += text[i];
    if (command) out += ' ';
    at_begin = text[i] == '\n' || (at_begin && (text[i] == ' ' || text[i] == '\t'));
  }
  return out;
}

}  // namespace traceweir::wire
