#include "cli/past_backtest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "analyzer/core/text.hpp"
#include "cli/command.hpp"
#include "cli/policy_question.hpp"
#include "server/wire/policy_answers.hpp"

namespace traceweir::cli {
namespace {

/// Commits that are printed for a rule; --json has more.
constexpr std::size_t shown_commits_max = 8;
constexpr std::size_t commit_digits = 12;

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void print_commits(const gate::LaneRule& rule) {
  const std::size_t shown = std::min(rule.commits.size(), shown_commits_max);
  if (shown == 0) return;
  std::string line = "    would have failed on ";
  for (std::size_t i = 0; i < shown; ++i)
    line += fmt::format("{}{}", i == 0 ? "" : ", ", clean_text(rule.commits[i].substr(0, commit_digits)));
  fmt::print("{}{}\n", line, rule.commits.size() > shown ? ", …" : "");
}

void print(const wire::BacktestDocument& document) {
  const gate::LaneBacktest& test = document.backtest;
  fmt::print("{:<32} {:>8} {:>8} {:>8} {:>8} {:>10}\n", "rule", "judged", "failed", "warned", "alarms", "recovered");
  std::int64_t alarms = 0, recovered = 0;
  for (const gate::LaneRule& rule : test.rules) {
    fmt::print("{:<32} {:>8} {:>8} {:>8} {:>8} {:>10}\n", clean_text(rule.metric), rule.judged, rule.failed,
               rule.warned, rule.alarms, rule.recovered);
    print_commits(rule);
    alarms += rule.alarms, recovered += rule.recovered;
  }
  fmt::print("{}, {} judged: {} would have failed\n", plural(test.runs, "run"), test.judged,
             plural(test.failed_commits, "commit"));
  if (alarms > 0)
    fmt::print("{} of {} recovered without a change of level: false alarms, most likely\n", recovered,
               plural(alarms, "alarm"));
  for (const std::string& note : document.notes) fmt::print("  note: {}\n", clean_text(note, 600));
}

}  // namespace

int past_backtest(const PastBacktestOptions& options, OutputForm form) {
  std::string text;
  if (!options.policy.empty()) {
    auto read = policy_text(options.policy);
    if (!read) return say(read.error());
    text = *std::move(read);
  }
  const auto body =
      ask_about({options.connection, "backtest", options.workload, options.branch, options.since, std::move(text)});
  if (!body) return say(body.error());
  const auto document = wire::backtest_from_json(*body);
  if (!document) return say(document.error());
  if (form == OutputForm::json)
    fmt::print("{}\n", *body);
  else
    print(*document);
  return document->backtest.failed_commits > 0 ? exit_failed : exit_done;
}

}  // namespace traceweir::cli
