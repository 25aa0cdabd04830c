#include "server/wire/run_markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/core/text.hpp"
#include "analyzer/report/markdown.hpp"
#include "analyzer/report/quantities.hpp"
#include "server/wire/explanation_text.hpp"
#include "server/wire/rule_cells.hpp"

namespace traceweir::wire {
namespace {

using report::escaped_markdown;

constexpr std::size_t name_cells_max = 80;
/// More rows nobody reads; what is worst is among the first.
constexpr std::size_t rows_max = 100;
constexpr std::size_t sentence_bytes_max = 1000;
/// What the foot and the words about what was left out may take.
constexpr std::size_t foot_bytes_max = 3000;

struct Sign {
  std::string_view outcome, sign;
};
constexpr Sign signs[] = {{"pass", "✅"}, {"warn", "⚠️"}, {"inconclusive", "❔"}, {"fail", "❌"}, {"n/a", "➖"}};

std::string_view sign_of(std::string_view outcome) {
  for (const Sign& row : signs)
    if (row.outcome == outcome) return row.sign;
  return "❔";
}

std::string text_of(std::string_view text, std::size_t bytes_max = sentence_bytes_max) {
  return escaped_markdown(clean_text(text, bytes_max));
}

std::string shown_name(std::string_view text) {
  return escaped_markdown(report::shortened(clean_text(text), name_cells_max));
}

/// A word of ours: names of projects and workloads have no other characters.
std::string plain(std::string_view text) {
  std::string word(text);
  std::replace_if(
      word.begin(), word.end(), [](unsigned char c) { return c < '!' || c == '<' || c == '>' || c == '/' || c > '~'; },
      '-');
  return word;
}

/// A text that is grown while there is room in it.
class Page {
 public:
  explicit Page(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Adds all of `part` or nothing. Returns whether it was added.
  bool add(std::string_view part) {
    if (text.size() + part.size() > bytes_max_) return false;
    text += part;
    return true;
  }

  std::string text;

 private:
  std::size_t bytes_max_;
};

constexpr std::string_view table_head =
    "| | metric | value | baseline | change | tolerance | why |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n";

std::string row_of(const gate::RuleResult& rule) {
  const RuleCells cells = cells_of(rule);
  const std::string baseline = cells.runs.empty() ? cells.baseline : fmt::format("{} ({})", cells.baseline, cells.runs);
  const bool bad = cells.outcome == "fail";
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", sign_of(cells.outcome), shown_name(cells.metric),
                     text_of(cells.value), text_of(baseline),
                     bad ? "**" + text_of(cells.delta) + "**" : text_of(cells.delta), text_of(cells.tolerance),
                     text_of(cells.reason));
}

using Rules = std::vector<const gate::RuleResult*>;

/// Rows as long as there is room. Returns how many were left out.
std::size_t add_rows(Page& page, const Rules& rules) {
  std::size_t added = 0;
  while (added < std::min(rules.size(), rows_max) && page.add(row_of(*rules[added]))) ++added;
  return rules.size() - added;
}

void add_left_out(Page& page, std::size_t count, std::string_view what) {
  if (count > 0) page.text += fmt::format("\n… and {} more {}{}.\n", count, what, count == 1 ? "" : "s");
}

void add_advice(Page& page, const gate::Verdict& verdict) {
  const std::vector<Advice> list = advice_of(verdict);
  if (!list.empty()) page.add("\n**What next**\n\n");
  std::size_t added = 0;
  while (added < list.size() &&
         page.add(fmt::format("* {}: {}\n", text_of(list[added].metrics, 300), text_of(list[added].next))))
    ++added;
  add_left_out(page, list.size() - added, "advice");
}

void add_notes(Page& page, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) page.add(fmt::format("\n> {}\n", text_of(note)));
}

void add_folded(Page& page, const Rules& rules) {
  if (rules.empty()) return;
  constexpr std::string_view end = "\n</details>\n";
  const auto applies =
      std::count_if(rules.begin(), rules.end(), [](const auto* rule) { return rule->outcome.has_value(); });
  std::string what = applies == 0 ? "" : fmt::format("{} within tolerance", applies);
  if (applies < std::ssize(rules))
    what += fmt::format("{}{} not applicable", what.empty() ? "" : ", ", std::ssize(rules) - applies);
  const std::string head = fmt::format("\n<details><summary>{}</summary>\n\n{}", what, table_head);
  if (!page.add(head)) return add_left_out(page, rules.size(), "metric");
  add_left_out(page, add_rows(page, rules), "metric");
  page.text += end;
}

void add_verdict(Page& page, const gate::Verdict& verdict) {
  page.add(fmt::format("**{}**\n", text_of(verdict.summary)));
  Rules bad, good;
  for (const gate::RuleResult& rule : verdict.rules)
    (rule.outcome && *rule.outcome != gate::Outcome::pass ? bad : good).push_back(&rule);
  if (!bad.empty()) {
    page.add("\n");
    page.add(table_head);
    add_left_out(page, add_rows(page, bad), "metric");
  }
  if (const std::string why = explanations_markdown(verdict); !why.empty() && !page.add("\n" + why))
    page.add("\n… why it changed is on the run's page.\n");
  add_advice(page, verdict);
  add_notes(page, verdict.notes);
  add_folded(page, good);
}

std::string ranks_sentence(const RunRanks& ranks) {
  std::string text = fmt::format("{} of {} ranks arrived", ranks.received.size(),
                                 ranks.expected ? std::to_string(*ranks.expected) : "?");
  if (!ranks.missing.empty()) text += fmt::format("; missing: {}", fmt::join(ranks.missing, ", "));
  for (const RunRanks::Rejected& row : ranks.rejected)
    text += fmt::format("; rank {} was rejected: {}", row.rank, row.error.message);
  return text;
}

std::string state_of(const RunAnswer& run) {
  if (run.error) return is_away(*run.error) ? "no verdict" : "rejected";
  return run.verdict ? headline_of(run.verdict->verdict) : run.status;
}

std::string_view sign_of(const RunAnswer& run) {
  if (run.error) return sign_of(std::string_view(is_away(*run.error) ? "warn" : "fail"));
  return sign_of(run.verdict ? gate::word(run.verdict->verdict.outcome) : std::string_view("?"));
}

std::string link_to(const RunAnswer& run, std::string_view address) {
  const std::string id = text_of(run.id, 64);
  if (id.empty()) return {};
  if (address.empty() || run.html.empty() || run.html.find_first_of(" ()<>\"") != std::string::npos) return "run " + id;
  return fmt::format("[run {}]({}{})", id, address, run.html);
}

/// The words of a policy's origin.
struct Origin {
  std::string_view word, text;
};
constexpr Origin origins[] = {{"sent", "the repository's"}, {"server", "the service's"}, {"built_in", "the built-in"}};

std::string foot_of(const RunAnswer& run, std::string_view address) {
  std::string foot = fmt::format("commit {}", text_of(run.commit.substr(0, 12), 64));
  if (!run.branch.empty()) foot += fmt::format(" on {}", text_of(run.branch, 255));
  if (run.attempt > 1 && run.attempt < 1000) foot += fmt::format(", attempt {}", run.attempt);
  if (run.verdict) {
    const std::size_t runs = run.verdict->verdict.baseline_runs.size();
    if (runs > 0) foot += fmt::format(" · baseline of {} run{}", runs, runs == 1 ? "" : "s");
    for (const Origin& origin : origins)
      if (origin.word == run.verdict->policy_source) foot += fmt::format(" · {} policy", origin.text);
    if (run.verdict->mode == "observe") foot += " · the project only observes: nothing fails";
  }
  const std::string link = link_to(run, address);
  return fmt::format("\n<sub>{}{}{}</sub>\n", foot, link.empty() ? "" : " · ", link);
}

void add_error(Page& page, const RunAnswer& run) {
  page.add(fmt::format("**{}: {}**\n", word(run.error->code), text_of(run.error->message)));
  if (!is_away(*run.error)) return;
  page.add("\nNothing was judged: this says nothing about the commit.");
  page.add(run.let_pass ? " The job goes on without a verdict, as it was told to.\n" : "\n");
}

/// Everything but the marker and the foot.
std::string section_of(const RunAnswer& run, std::size_t bytes_max) {
  Page page(bytes_max);
  page.add(fmt::format("### {} Traceweir: {} · {} / {}\n\n", sign_of(run), text_of(state_of(run)),
                       text_of(run.project, 128), text_of(run.workload, 128)));
  for (const std::string& warning : run.warnings) page.add(fmt::format("> {}\n\n", text_of(warning)));
  for (const std::string& accepted : sentences_of(run.acceptances))
    page.add(fmt::format("> {}\n\n", text_of(accepted)));
  if (run.error)
    add_error(page, run);
  else if (run.verdict)
    add_verdict(page, run.verdict->verdict);
  else
    page.add("There is no verdict yet.\n");
  if (run.ranks && (!run.verdict || !run.ranks->missing.empty() || !run.ranks->rejected.empty()))
    page.add(fmt::format("\n{}.\n", text_of(ranks_sentence(*run.ranks))));
  return page.text;
}

/// The newest run of each workload that is not superseded, the worst first.
std::vector<const RunAnswer*> newest_of(std::span<const RunAnswer> runs) {
  std::vector<const RunAnswer*> newest;
  for (const RunAnswer& run : runs) {
    if (run.superseded) continue;
    const auto same =
        std::find_if(newest.begin(), newest.end(), [&](const auto* r) { return r->workload == run.workload; });
    if (same == newest.end())
      newest.push_back(&run);
    else
      *same = &run;
  }
  const auto weight = [](const RunAnswer* run) {
    return run->verdict ? static_cast<int>(run->verdict->verdict.outcome)
                        : static_cast<int>(gate::Outcome::inconclusive);
  };
  std::stable_sort(newest.begin(), newest.end(), [&](const auto* a, const auto* b) { return weight(a) > weight(b); });
  return newest;
}

}  // namespace

std::string comment_marker(std::string_view project, std::string_view workload) {
  return fmt::format("<!-- traceweir:{}{}{} -->", plain(project), workload.empty() ? "" : "/", plain(workload));
}

std::string run_markdown(const RunAnswer& run, std::string_view address) {
  const std::string marker = comment_marker(run.project, run.workload) + "\n";
  return marker + section_of(run, markdown_bytes_max - foot_bytes_max) + foot_of(run, address);
}

std::string commit_markdown(std::string_view project, std::string_view commit, std::span<const RunAnswer> runs,
                            std::string_view address) {
  const std::vector<const RunAnswer*> newest = newest_of(runs);
  std::string text = comment_marker(project, "") + "\n";
  if (newest.empty()) return text + fmt::format("Commit {} has no runs.\n", text_of(commit.substr(0, 12)));
  const std::size_t each = (markdown_bytes_max - foot_bytes_max) / newest.size();
  std::size_t shown = 0;
  for (const RunAnswer* run : newest) {
    const std::string part = section_of(*run, std::max(each, foot_bytes_max)) + foot_of(*run, address) + "\n";
    if (text.size() + part.size() > markdown_bytes_max - 100) break;
    text += part;
    ++shown;
  }
  if (shown < newest.size()) text += fmt::format("… and {} more workloads.\n", newest.size() - shown);
  return text;
}

}  // namespace traceweir::wire
