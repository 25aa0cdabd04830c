#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/text.hpp"
#include "analyzer/metrics/measure.hpp"
#include "gate/metric_facts.hpp"
#include "gate/policy.hpp"
#include "gate/policy_keys.hpp"
#include "gate/policy_read.hpp"
#include "gate/policy_tree.hpp"
#include "gate/rule_parse.hpp"

namespace traceweir::gate {
namespace {

constexpr std::int64_t grammar_version = 1;
constexpr std::size_t name_max = 200, glob_max = 512;
constexpr std::int64_t skip_steps_max = 1'000'000;
/// The store hands the judge at most so many values.
constexpr std::int64_t runs_max = 100;
constexpr std::size_t match_max = 16, match_name_max = 64;

/// The policy being read, with the nodes that two keys are compared by.
struct Draft {
  Policy policy;
  const PolicyNode* min_runs = nullptr;
  bool has_rules = false;
};

// ---- the file itself

Result<void> read_version(const PolicyNode& node, const std::string& path, Draft&) {
  TRACEWEIR_TRY(number, read_integer(node, path, INT64_MIN, INT64_MAX));
  if (number != grammar_version)
    return refuse(node, path, fmt::format("this version of the gate reads policies of version {}", grammar_version));
  return {};
}

Result<void> read_project(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(text, read_text(node, path, name_max));
  draft.policy.project = std::move(text);
  return {};
}

Result<void> read_workload(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(text, read_text(node, path, name_max));
  draft.policy.workload = std::move(text);
  return {};
}

// ---- [trace]

Result<void> read_steps(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(text, read_text(node, path, glob_max));
  draft.policy.trace.steps = std::move(text);
  return {};
}

Result<void> read_skip_steps(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(count, read_integer(node, path, 0, skip_steps_max));
  draft.policy.trace.skip_steps = count;
  return {};
}

Result<void> read_window(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(text, read_text(node, path, name_max));
  const auto options = metrics::with_window({}, text);
  if (!options) return refuse(node, path, options.error().message);
  draft.policy.trace.window = std::move(text);
  return {};
}

// ---- [baseline]

Result<void> read_branch(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(text, read_text(node, path, name_max));
  draft.policy.baseline.branch = std::move(text);
  return {};
}

Result<void> read_runs(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(count, read_integer(node, path, 1, runs_max));
  draft.policy.baseline.runs = count;
  return {};
}

Result<void> read_min_runs(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(count, read_integer(node, path, 1, runs_max));
  draft.policy.baseline.min_runs = count;
  draft.min_runs = &node;
  return {};
}

Result<void> read_pinned(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(text, read_text(node, path, name_max));
  draft.policy.baseline.pinned = std::move(text);
  return {};
}

/// Whether a text reads `2026-11-01`, with a day that there is.
bool is_day(std::string_view text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  const auto number = [text](std::size_t from, std::size_t digits) {
    unsigned value = 0;
    for (const char c : text.substr(from, digits)) value = value * 10 + static_cast<unsigned>(c - '0');
    return value;
  };
  return std::chrono::year_month_day(std::chrono::year(static_cast<int>(number(0, 4))),
                                     std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2)))
      .ok();
}

/// Whether a text reads `T12:00:00Z`.
bool is_time(std::string_view text) {
  constexpr std::string_view form = "Tdd:dd:ddZ";
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return false;
  return text.substr(1, 2) < "24" && text.substr(4, 2) < "60" && text.substr(7, 2) < "60";
}

Result<void> read_epoch(const PolicyNode& node, const std::string& path, Draft& draft) {
  std::string text = node.text;
  if (node.kind != PolicyNode::Kind::date) {
    TRACEWEIR_TRY(given, read_text(node, path, name_max));
    text = std::move(given);
  }
  const std::string_view view = text;
  if (!is_day(view.substr(0, 10)) || (view.size() > 10 && !is_time(view.substr(10))))
    return refuse(node, path, fmt::format("\"{}\" is no date like 2026-11-01 or 2026-11-01T12:00:00Z", text));
  draft.policy.baseline.epoch = std::move(text);
  return {};
}

// ---- [environment], [cost]

bool is_match_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

/// Facts that are taken from traces and machines; any other name is a key of --env.
constexpr std::string_view known_facts[] = {"gpu", "gpu_count", "world_size", "driver", "cuda", "nccl", "framework"};

/// Letters and digits alone, small, and without the s of a plural: what a slip of the pen leaves as it is.
std::string skeleton(std::string_view name) {
  std::string bare;
  for (const char c : name)
    if (c != '_' && c != '-' && c != '.') bare += lower(c);
  if (bare.ends_with('s')) bare.pop_back();
  return bare;
}

/// Below so many letters words that differ in one are different words: cpu and gpu.
constexpr std::size_t misspelt_size_min = 6;

/// ` (did you mean "gpu"?)` where a name is so near a known fact that no key of that name is meant: no run would have
/// it, and runs of all values would be compared with each other.
std::string near_miss(std::string_view name) {
  if (std::find(std::begin(known_facts), std::end(known_facts), name) != std::end(known_facts)) return {};
  for (const std::string_view fact : known_facts)
    if (skeleton(fact) == skeleton(name)) return fmt::format(" (did you mean \"{}\"?)", fact);
  return name.size() < misspelt_size_min ? std::string() : suggestion(name, known_facts);
}

Result<void> read_match(const PolicyNode& node, const std::string& path, Draft& draft) {
  if (node.kind != PolicyNode::Kind::array)
    return refuse(node, path, fmt::format("must be an array of names, not {}", kind_word(node.kind)));
  if (node.children.size() > match_max) return refuse(node, path, fmt::format("has more than {} names", match_max));
  std::vector<std::string> names;
  for (const PolicyNode& child : node.children) {
    TRACEWEIR_TRY(name, read_text(child, path, match_name_max));
    if (!is_match_name(name))
      return refuse(child, path, fmt::format("\"{}\" is no name of letters, digits, _, - and .", name));
    if (std::find(names.begin(), names.end(), name) != names.end())
      return refuse(child, path, fmt::format("\"{}\" is named twice", name));
    if (const std::string meant = near_miss(name); !meant.empty())
      return refuse(child, path, fmt::format("\"{}\" is no fact of a run{}", name, meant));
    names.push_back(std::move(name));
  }
  draft.policy.environment_match = std::move(names);
  return {};
}

Result<void> read_gpu_hour(const PolicyNode& node, const std::string& path, Draft& draft) {
  TRACEWEIR_TRY(price, read_number(node, path));
  if (price < 0) return refuse(node, path, "must not be below 0");
  draft.policy.gpu_hour = price;
  return {};
}

// ---- [findings.CODE]

Result<void> read_finding_level(const PolicyNode& node, const std::string& path, FindingRule& rule) {
  static constexpr std::string_view words[] = {"fail", "warn", "info"};
  TRACEWEIR_TRY(text, read_word(node, path, words));
  rule.level = *level_of(text);
  return {};
}

constexpr KeyRow<FindingRule> finding_rows[] = {{"level", &read_finding_level}};

std::vector<std::string_view> finding_words() {
  std::vector<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(FindingCode::hot_gpu); ++i) words.push_back(word(static_cast<FindingCode>(i)));
  return words;
}

Result<void> read_findings(const PolicyNode& node, const std::string& path, Draft& draft) {
  if (node.kind != PolicyNode::Kind::table)
    return refuse(node, path, fmt::format("must be a table, not {}", kind_word(node.kind)));
  for (const PolicyNode& child : node.children) {
    const std::string child_path = path_of(path, child.key);
    const std::optional<FindingCode> code = finding_code_of(child.key);
    if (!code) return refuse(child, child_path, "unknown finding" + suggestion(child.key, finding_words()));
    FindingRule rule{*code, Level::fail};
    TRACEWEIR_TRY_VOID(read_table<FindingRule>(child, child_path, finding_rows, rule));
    draft.policy.findings.push_back(rule);
  }
  return {};
}

// ---- [rules."METRIC"]

Result<void> read_rules(const PolicyNode& node, const std::string& path, Draft& draft) {
  if (node.kind != PolicyNode::Kind::table)
    return refuse(node, path, fmt::format("must be a table, not {}", kind_word(node.kind)));
  draft.has_rules = true;
  std::size_t patterns = 0;
  for (const PolicyNode& child : node.children) {
    TRACEWEIR_TRY(rule, parse_rule(child, path_of(path, child.key)));
    if (is_pattern(rule.metric)) ++patterns;
    draft.policy.rules.push_back(std::move(rule));
    if (draft.policy.rules.size() > policy_rules_max)
      return refuse(child, path, fmt::format("has more than {} rules", policy_rules_max));
    if (patterns > policy_patterns_max)
      return refuse(child, path, fmt::format("has more than {} rules with patterns", policy_patterns_max));
  }
  return {};
}

constexpr KeyRow<Draft> trace_rows[] = {
    {"steps", &read_steps}, {"skip_steps", &read_skip_steps}, {"window", &read_window}};
constexpr KeyRow<Draft> baseline_rows[] = {{"branch", &read_branch},
                                           {"runs", &read_runs},
                                           {"min_runs", &read_min_runs},
                                           {"pinned", &read_pinned},
                                           {"epoch", &read_epoch}};
constexpr KeyRow<Draft> environment_rows[] = {{"match", &read_match}};
constexpr KeyRow<Draft> cost_rows[] = {{"gpu_hour", &read_gpu_hour}};

Result<void> read_trace(const PolicyNode& node, const std::string& path, Draft& draft) {
  return read_table<Draft>(node, path, trace_rows, draft);
}
Result<void> read_baseline(const PolicyNode& node, const std::string& path, Draft& draft) {
  return read_table<Draft>(node, path, baseline_rows, draft);
}
Result<void> read_environment(const PolicyNode& node, const std::string& path, Draft& draft) {
  return read_table<Draft>(node, path, environment_rows, draft);
}
Result<void> read_cost(const PolicyNode& node, const std::string& path, Draft& draft) {
  return read_table<Draft>(node, path, cost_rows, draft);
}

constexpr KeyRow<Draft> file_rows[] = {
    {"version", &read_version}, {"project", &read_project},   {"workload", &read_workload},
    {"trace", &read_trace},     {"baseline", &read_baseline}, {"environment", &read_environment},
    {"cost", &read_cost},       {"rules", &read_rules},       {"findings", &read_findings},
};

template <typename Target>
void list(std::span<const KeyRow<Target>> rows, std::string_view table, std::vector<std::string>& out) {
  for (const auto& row : rows) out.push_back(fmt::format("{}{}", table, row.key));
}

}  // namespace

Result<Policy> parse_policy(std::string_view toml) {
  TRACEWEIR_TRY(tree, parse_tree(toml));
  Draft draft;
  TRACEWEIR_TRY_VOID(read_table<Draft>(tree, {}, file_rows, draft));
  const BaselineOptions& baseline = draft.policy.baseline;
  if (draft.min_runs && baseline.min_runs > baseline.runs)
    return refuse(
        *draft.min_runs, "baseline.min_runs",
        fmt::format("{} is more than runs ({}), so nothing is ever judged", baseline.min_runs, baseline.runs));
  // Fewer runs than the default minimum, without a word about it: all of them are wanted.
  draft.policy.baseline.min_runs = std::min(baseline.min_runs, baseline.runs);
  // A file may state only where the baseline is or how traces are read: the built-in rules stay then.
  if (!draft.has_rules) draft.policy.rules = built_in_policy().rules;
  draft.policy.text = std::string(toml);
  return std::move(draft.policy);
}

std::vector<std::string> policy_keys() {
  std::vector<std::string> keys;
  list<Draft>(file_rows, "", keys);
  list<Draft>(trace_rows, "trace.", keys);
  list<Draft>(baseline_rows, "baseline.", keys);
  list<Draft>(environment_rows, "environment.", keys);
  list<Draft>(cost_rows, "cost.", keys);
  list<FindingRule>(finding_rows, "findings.*.", keys);
  for (const std::string_view key : rule_keys()) keys.push_back(fmt::format("rules.*.{}", key));
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace traceweir::gate
