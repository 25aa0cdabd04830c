#include "server/wire/explanation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "analyzer/report/markdown.hpp"
#include "analyzer/report/quantities.hpp"
#include "gate/units.hpp"

namespace traceweir::wire {
namespace {

using report::escaped_markdown;
using report::width_of;

struct CauseLabel {
  gate::Cause cause;
  const char* before;  ///< the name of the row
};
constexpr CauseLabel labels[] = {{gate::Cause::idle_input, "idle, "},
                                 {gate::Cause::idle_sync, "idle, "},
                                 {gate::Cause::idle_launch, "idle, "},
                                 {gate::Cause::idle_dependency, "idle, "},
                                 {gate::Cause::idle_unknown, "idle, "},
                                 {gate::Cause::compute, "compute in "},
                                 {gate::Cause::graph, ""},
                                 {gate::Cause::exposed_comm, "exposed "},
                                 {gate::Cause::exposed_memory, "exposed "},
                                 {gate::Cause::transfer, "transfer of "},
                                 {gate::Cause::wait, "waiting in "},
                                 {gate::Cause::size_slower, "duration of "},
                                 {gate::Cause::size_mix, "mix of sizes, "},
                                 {gate::Cause::distribution, ""},
                                 {gate::Cause::other, ""}};

std::string label_of(const gate::Contribution& row) {
  const auto* label = std::find_if(std::begin(labels), std::end(labels),
                                   [&](const CauseLabel& candidate) { return candidate.cause == row.cause; });
  std::string text = label->before + row.name;
  if (!row.phase.empty()) text += ", in " + row.phase;
  return text;
}

std::string signed_amount(double delta, const Unit& unit) {
  const char* sign = delta > 0 ? "+" : "";
  if (unit == Unit::ratio) return fmt::format("{}{:.1f} pp", sign, delta * 100);
  return sign + gate::human(delta, unit);
}

/// The part of the whole; nothing where the whole is nothing.
std::string share_of(double part, double whole) {
  return whole == 0 ? std::string() : fmt::format("{:.0f} %", part / whole * 100);
}

std::string padded_left(const std::string& text, std::size_t width) {
  const std::size_t used = width_of(text);
  return std::string(used < width ? width - used : 0, ' ') + text;
}

std::string padded_right(const std::string& text, std::size_t width) {
  const std::size_t used = width_of(text);
  return text + std::string(used < width ? width - used : 0, ' ');
}

bool is_changed(const gate::MetricChange& change) {
  return !gate::rounds_to_nothing(change.head - change.base, change.base, change.unit);
}

std::string change_text(const gate::MetricChange& change) {
  const gate::HumanPair pair = gate::human_pair(change.base, change.head, change.unit);
  return fmt::format("{}  {}  {}", padded_left(pair.from, 12), padded_left(pair.to, 12),
                     padded_left(gate::human_delta(change.head - change.base, change.base, change.unit), 10));
}

std::string side_text(const DiffSide& side) {
  if (side.run.empty()) return side.name.empty() ? "-" : side.name;
  return fmt::format("run {}{}", side.run, side.commit.empty() ? "" : ", commit " + side.commit.substr(0, 12));
}

std::string causes_in(const gate::Explanation& explanation) {
  const std::size_t colon = explanation.sentence.find(": ");
  return colon == std::string::npos ? std::string() : explanation.sentence.substr(colon + 2);
}

/// Those that a person reads: what says the same as one before it stays in the JSON.
std::vector<const gate::Explanation*> read_by_people(const std::vector<gate::Explanation>& explanations) {
  std::vector<const gate::Explanation*> chosen;
  for (const gate::Explanation& explanation : explanations) {
    const bool told = std::any_of(chosen.begin(), chosen.end(), [&](const gate::Explanation* earlier) {
      const bool mirrored = explanation.metric == "gpu.idle" && earlier->metric == "gpu.utilization";
      return mirrored || causes_in(*earlier) == causes_in(explanation);
    });
    if (!told && !explanation.contributions.empty()) chosen.push_back(&explanation);
  }
  return chosen;
}

/// The rest of a difference that rounds to nothing is for sums, not for people.
bool is_shown(const gate::Contribution& row, const gate::Explanation& explanation) {
  constexpr double shown_share_min = 0.005;
  return row.cause != gate::Cause::other || std::abs(row.delta) >= shown_share_min * std::abs(explanation.delta);
}

/// What stands beside the explanations, one sentence a line.
std::vector<std::string> sentences_beside(const std::optional<gate::WorkloadChange>& change,
                                          const std::optional<gate::Cost>& cost,
                                          const std::vector<std::string>& facts) {
  std::vector<std::string> sentences;
  if (change) sentences.push_back(change->sentence);
  if (cost) sentences.push_back(cost->sentence);
  sentences.insert(sentences.end(), facts.begin(), facts.end());
  return sentences;
}

std::string facts_text(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += fmt::format("  - {}\n", sentence);
  return text;
}

std::string facts_markdown(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += fmt::format("* {}\n", escaped_markdown(sentence));
  return text.empty() ? text : text + "\n";
}

}  // namespace

std::string to_text(const gate::Explanation& explanation) {
  std::string text = explanation.sentence + "\n";
  for (const gate::Contribution& row : explanation.contributions)
    if (is_shown(row, explanation))
      text += fmt::format("  {}  {}  {}{}\n", padded_left(signed_amount(row.delta, explanation.unit), 10),
                          padded_left(share_of(row.delta, explanation.delta), 6), label_of(row),
                          row.note.empty() ? "" : " (" + row.note + ")");
  return text;
}

std::string explanations_text(const gate::Verdict& verdict) {
  std::string text;
  for (const gate::Explanation& explanation : verdict.explanations) text += to_text(explanation);
  return text + facts_text(sentences_beside(verdict.workload_changed, verdict.cost, verdict.facts));
}

std::string to_text(const DiffDocument& document) {
  const gate::Diff& diff = document.diff;
  std::string text =
      fmt::format("{}\n\nbase  {}\nhead  {}\n\n", diff.summary, side_text(document.base), side_text(document.head));
  std::size_t width = 0;
  for (const gate::MetricChange& change : diff.metrics)
    if (is_changed(change)) width = std::max(width, width_of(change.metric));
  for (const gate::MetricChange& change : diff.metrics)
    if (is_changed(change)) text += fmt::format("  {}  {}\n", padded_right(change.metric, width), change_text(change));
  text += width == 0 ? "  no metric differs\n" : "";
  for (const gate::Explanation* explanation : read_by_people(diff.explanations)) text += "\n" + to_text(*explanation);
  const std::string facts = facts_text(sentences_beside(diff.workload_changed, diff.cost, diff.facts));
  return facts.empty() ? text : text + "\nbeside that\n" + facts;
}

std::string to_markdown(const gate::Explanation& explanation) {
  std::string text = fmt::format("**{}**\n\n", escaped_markdown(explanation.sentence));
  if (explanation.contributions.empty()) return text;
  text += "| change | share | cause | |\n| ---: | ---: | --- | --- |\n";
  for (const gate::Contribution& row : explanation.contributions)
    if (is_shown(row, explanation))
      text += fmt::format("| {} | {} | {} | {} |\n", signed_amount(row.delta, explanation.unit),
                          share_of(row.delta, explanation.delta), escaped_markdown(label_of(row)),
                          escaped_markdown(row.note));
  return text + "\n";
}

std::string explanations_markdown(const gate::Verdict& verdict) {
  std::string text;
  for (const gate::Explanation& explanation : verdict.explanations) text += to_markdown(explanation);
  return text + facts_markdown(sentences_beside(verdict.workload_changed, verdict.cost, verdict.facts));
}

std::string to_markdown(const DiffDocument& document) {
  const gate::Diff& diff = document.diff;
  std::string text =
      fmt::format("### {}\n\nBase: {}. Head: {}.\n\n", escaped_markdown(diff.summary),
                  escaped_markdown(side_text(document.base)), escaped_markdown(side_text(document.head)));
  std::string rows;
  for (const gate::MetricChange& change : diff.metrics) {
    if (!is_changed(change)) continue;
    const gate::HumanPair pair = gate::human_pair(change.base, change.head, change.unit);
    rows += fmt::format("| {} | {} | {} | {} |\n", escaped_markdown(change.metric), pair.from, pair.to,
                        gate::human_delta(change.head - change.base, change.base, change.unit));
  }
  for (const gate::Explanation* explanation : read_by_people(diff.explanations)) text += to_markdown(*explanation);
  text += facts_markdown(sentences_beside(diff.workload_changed, diff.cost, diff.facts));
  if (rows.empty()) return text;
  return text + "| metric | base | head | change |\n| --- | ---: | ---: | ---: |\n" + rows;
}

}  // namespace traceweir::wire
