#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "analyzer/core/text.hpp"
#include "cli/change_point_options.hpp"
#include "cli/command.hpp"
#include "cli/past_backtest.hpp"
#include "cli/repository_policy.hpp"
#include "cli/series_file.hpp"
#include "gate/backtest.hpp"
#include "gate/judge_rule.hpp"
#include "gate/metric_facts.hpp"
#include "gate/units.hpp"

namespace traceweir::cli {
namespace {

struct BacktestOptions {
  std::string policy, metric, series, worse_by = "5%", better;
  std::vector<std::size_t> accepted;
  gate::ChangePointOptions changes;
  bool json = false;
  PastBacktestOptions past;  ///< without a series
};

/// The rule of a policy for the metric, or the one that the options state for a series without a name.
struct Judged {
  gate::Rule rule;
  MetricInfo info;
  gate::BaselineOptions baseline;
};

Result<Judged> from_options(const BacktestOptions& options) {
  TRACEWEIR_TRY(tolerance, gate::parse_tolerance(options.worse_by, Unit::count));
  Judged judged;
  judged.info = {"value", Unit::count, better_of(options.better).value_or(Better::lower), ""};
  judged.rule.metric = judged.info.id;
  judged.rule.worse_by = std::move(tolerance);
  return judged;
}

/// The unit that the rule's quantities are in: that of the values of a metric of the job's own.
Unit unit_in(const gate::Rule& rule) {
  for (const auto* amount : {&rule.min, &rule.max, &rule.at_least})
    if (*amount) return (*amount)->unit;
  const bool points = rule.worse_by && rule.worse_by->kind == gate::Tolerance::Kind::points;
  return points ? Unit::ratio : Unit::count;
}

/// Unit and better side of a metric of the job's own come with the values of a run, and a series has none: the rule
/// tells, or --better.
Result<MetricInfo> completed(MetricInfo info, const gate::Rule& rule, const BacktestOptions& options) {
  const bool is_open = is_custom(info.id) && !rule.direction;
  if (!options.better.empty() && !is_open)
    return fail(ErrorCode::usage, fmt::format("--better {}: the better side of {} is known", options.better, info.id));
  if (!is_custom(info.id)) return info;
  info.unit = unit_in(rule);
  if (!options.better.empty()) info.better = *better_of(options.better);
  const auto misfit = gate::misfit_of(rule, info);
  if (!misfit) return info;
  const bool lacks_side = is_open && info.better == Better::none;
  return fail(
      ErrorCode::usage,
      fmt::format("{} cannot be judged: {}. {}", info.id, misfit->what,
                  lacks_side ? "Give --better lower or higher, or add a direction to its rule." : misfit->next));
}

Result<Judged> from_policy(const BacktestOptions& options) {
  std::optional<gate::Policy> policy;
  if (options.policy.empty()) {
    policy = gate::built_in_policy();
  } else {
    TRACEWEIR_TRY(read, repository_policy(options.policy, {}));
    policy = std::move(read);
  }
  const std::optional<MetricInfo> info = gate::metric_info(options.metric);
  if (!info)
    return fail(ErrorCode::usage,
                fmt::format("there is no metric '{}'; `traceweir metrics` lists them", clean_text(options.metric)));
  for (gate::Rule& rule : gate::rules_for(*policy, std::vector{options.metric}))
    if (rule.metric == options.metric) {
      TRACEWEIR_TRY(full, completed(*info, rule, options));
      return Judged{std::move(rule), std::move(full), policy->baseline};
    }
  return fail(ErrorCode::usage, fmt::format("the policy has no rule for {}", options.metric));
}

Result<Judged> judged_of(const BacktestOptions& options) {
  if (!options.metric.empty()) return from_policy(options);
  if (options.policy.empty()) return from_options(options);
  return fail(ErrorCode::usage, "--policy needs --metric: which of its rules is meant");
}

// ---- as JSON

wire::Json baseline_json(const gate::RuleResult& result) {
  if (!result.baseline) return nullptr;
  const gate::BaselineFacts& facts = *result.baseline;
  return {{"runs", facts.runs},   {"median", facts.median},     {"level", facts.level},
          {"noise", facts.noise}, {"segments", facts.segments}, {"first", std::stoull(facts.first)}};
}

wire::Json point_json(const gate::BacktestPoint& point) {
  const gate::RuleResult& result = point.result;
  wire::Json json = {{"index", point.index},
                     {"value", point.value},
                     {"outcome", result.outcome ? wire::Json(word(*result.outcome)) : wire::Json(nullptr)},
                     {"reason", word(result.reason)},
                     {"baseline", baseline_json(result)}};
  json["fails_at"] = result.fails_at ? wire::Json(*result.fails_at) : wire::Json(nullptr);
  json["detectable"] = result.detectable ? wire::Json(*result.detectable) : wire::Json(nullptr);
  return json;
}

std::int64_t recovered_in(const gate::Backtest& test) {
  return std::count_if(test.alarms.begin(), test.alarms.end(),
                       [](const gate::Alarm& alarm) { return alarm.recovered; });
}

void print_json(const gate::Backtest& test) {
  wire::Json document = {{"points", wire::Json::array()}, {"change_points", wire::Json::array()}};
  for (const gate::BacktestPoint& point : test.points) document["points"].push_back(point_json(point));
  for (const gate::ChangePoint& point : test.change_points) document["change_points"].push_back(json_of(point));
  document["summary"] = {{"values", test.points.size()}, {"judged", test.judged},
                         {"failed", test.failed},        {"warned", test.warned},
                         {"alarms", test.alarms.size()}, {"recovered", recovered_in(test)}};
  fmt::print("{}\n", wire::dump(document));
}

// ---- as a table

std::string shown(double value, const MetricInfo& info) {
  return info.id == "value" ? fmt::format("{:.6g}", value) : gate::human(value, info.unit);
}

void print_failures(const gate::Backtest& test, const Series& series, const MetricInfo& info) {
  if (test.failed == 0) return;
  fmt::print("{:>8} {:>8} {:>14} {:>14} {:>9} {:>14} {}\n", "index", "line", "value", "level", "change", "fails at",
             "reason");
  for (const gate::BacktestPoint& point : test.points) {
    const gate::RuleResult& result = point.result;
    if (result.outcome != gate::Outcome::fail) continue;
    const std::string level = result.baseline ? shown(result.baseline->level, info) : "-";
    const std::string change = result.delta ? gate::human_delta(*result.delta, result.baseline->level, info.unit) : "-";
    fmt::print("{:>8} {:>8} {:>14} {:>14} {:>9} {:>14} {}\n", point.index, series.lines[point.index],
               shown(point.value, info), level, change, result.fails_at ? shown(*result.fails_at, info) : "-",
               word(result.reason));
  }
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void print_table(const gate::Backtest& test, const Series& series, const Judged& judged) {
  print_failures(test, series, judged.info);
  fmt::print("{}: {} judged, {} failed in {}, {} warned, {} not judged (learning)\n",
             plural(std::ssize(test.points), "value"), test.judged, test.failed,
             plural(std::ssize(test.alarms), "alarm"), test.warned, std::ssize(test.points) - test.judged);
  if (!test.alarms.empty())
    fmt::print("{} of {} recovered without a change of level: false alarms, most likely\n", recovered_in(test),
               plural(std::ssize(test.alarms), "alarm"));
  for (const gate::ChangePoint& change : test.change_points)
    fmt::print("the level changed at index {} (line {}) from {} to {}\n", change.index, series.lines[change.index],
               shown(change.before, judged.info), shown(change.after, judged.info));
}

int run(const BacktestOptions& options) {
  if (options.series.empty()) {
    if (options.past.connection.url.empty())
      return say(Error{ErrorCode::usage,
                       "what is the policy to be tried on? --series FILE for the values of a file, or --url (or "
                       "TRACEWEIR_URL) and --project for the runs that a service has stored"});
    PastBacktestOptions past = options.past;
    past.policy = options.policy;
    return past_backtest(past, options.json ? OutputForm::json : OutputForm::text);
  }
  if (const auto checked = check_change_point_options(options.changes); !checked) return say(checked.error());
  const auto judged = judged_of(options);
  if (!judged) return say(judged.error());
  const auto series = read_series(options.series);
  if (!series) return say(series.error());
  for (const std::size_t index : options.accepted)
    if (index >= series->values.size())
      return say(
          Error{ErrorCode::usage, fmt::format("--accept {}: the series has {} values", index, series->values.size())});
  if (judged->rule.confirm > 1)
    fmt::print(stderr, "note: the rule wants {} runs of a commit, and a series has one: nothing can fail\n",
               judged->rule.confirm);
  const gate::Backtest test =
      gate::backtest({series->values, judged->rule, judged->info, judged->baseline, options.changes, options.accepted});
  if (options.json)
    print_json(test);
  else
    print_table(test, *series, *judged);
  return test.failed > 0 ? exit_failed : exit_done;
}

}  // namespace

Action declare_backtest(CLI::App& app) {
  const auto options = std::make_shared<BacktestOptions>();
  auto* series =
      app.add_option("--series", options->series, "one number per line, or a CSV with a column `value`; - is stdin")
          ->type_name("FILE");
  app.add_option("--policy", options->policy,
                 "the policy that is tried; with --series its rule for --metric (default: the policy in force; with "
                 "--series the built-in one)")
      ->check(CLI::ExistingFile);
  add_connection_options(app, options->past.connection);
  app.add_option("--workload", options->past.workload, "of the stored runs (default: the policy's, else default)")
      ->envname("TRACEWEIR_WORKLOAD");
  app.add_option("--branch", options->past.branch, "of the stored runs (default: the policy's, else main)")
      ->excludes(series);
  app.add_option("--since", options->past.since, "count stored runs from this date or time on; older ones are baseline")
      ->excludes(series);
  auto* metric = app.add_option("--metric", options->metric, "metric of the series, its values in the metric's unit")
                     ->type_name("ID");
  app.add_option("--worse-by", options->worse_by, "without --metric: the tolerance")
      ->type_name("PERCENT")
      ->capture_default_str()
      ->excludes(metric);
  app.add_option("--better", options->better,
                 "without --metric, or where it is one of the job's own (custom.*): the better side")
      ->check(CLI::IsMember({"lower", "higher"}))
      ->default_str("lower");
  app.add_option("--accept", options->accepted,
                 "index of a value from which on the new level is accepted; several times")
      ->type_name("INDEX");
  add_change_point_options(app, options->changes);
  app.add_flag("--json", options->json, "every value with its verdict, as JSON");
  app.footer(
      R"(Each value is judged against those before it, as the gate does. A value that fails is not in the baseline, unless its
level is accepted; a change for the better starts a new level by itself. Index 0 is the first value.

Without --series the service tries the policy on the stored runs of a project's branch, as if it had been in force.

Examples:
  traceweir backtest --policy .traceweir.toml --project llama --branch main --since 2026-11-01
  traceweir backtest --series times.csv --worse-by 3%
  traceweir backtest --series util.csv --policy .traceweir.toml --metric gpu.utilization
  traceweir history step.time_p50 --project llama --branch main --csv |
    traceweir backtest --series - --metric step.time_p50 --json

Exit codes: 0 nothing fails, 1 something fails, 2 usage, or a file that is no series or policy.)");
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
