#include "gate/policy_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "gate/metric_facts.hpp"
#include "gate/sentences.hpp"
#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

std::string_view verb_of(Level level) {
  if (level == Level::fail) return "fails";
  return level == Level::warn ? "warns" : "is shown as broken, and not counted,";
}

std::string branch_of(const Policy& policy) { return policy.baseline.branch.value_or("the base branch"); }

std::string noise_text(const Rule& rule) {
  if (rule.noise == Noise::none) return "whatever their noise";
  const std::string_view how = rule.noise == Noise::mad ? ", by their median deviation"
                               : rule.noise == Noise::t ? ", by their own deviation"
                                                        : "";
  return fmt::format("beyond their noise ({:g} sigmas{})", rule.sigmas, how);
}

std::string amount_text(const Rule& rule) {
  if (rule.worse_by && rule.at_least)
    return fmt::format("{} and by more than {}", spaced(rule.worse_by->text), spaced(rule.at_least->text));
  return spaced(rule.worse_by ? rule.worse_by->text : rule.at_least->text);
}

std::vector<std::string> conditions_of(const Rule& rule, const Policy& policy) {
  std::vector<std::string> conditions;
  if (rule.min) conditions.push_back(fmt::format("below {}", spaced(rule.min->text)));
  if (rule.max) conditions.push_back(fmt::format("above {}", spaced(rule.max->text)));
  if (!rule.worse_by && !rule.at_least) return conditions;
  const std::string pinned =
      policy.baseline.pinned.empty() ? "" : fmt::format(", or so much worse than {}", policy.baseline.pinned);
  conditions.push_back(fmt::format("where it is worse by more than {} than the mean of at most {} of {}, {}{}",
                                   amount_text(rule), counted(policy.baseline.runs, "run"), branch_of(policy),
                                   noise_text(rule), pinned));
  return conditions;
}

std::string side_text(const Rule& rule) {
  const auto info = metric_info(rule.metric);
  const Better side = rule.direction.value_or(info ? info->better : Better::none);
  if ((!rule.worse_by && !rule.at_least) || side == Better::none) return "";
  return fmt::format(" ({} is better)", word(side));
}

}  // namespace

std::string in_words(const Rule& rule, const Policy& policy) {
  const std::string confirm =
      rule.confirm > 1 ? fmt::format(", once {} of a commit agree", counted(rule.confirm, "run")) : std::string();
  return fmt::format("{}{} {} {}{}.", rule.metric, side_text(rule), verb_of(rule.level),
                     fmt::join(conditions_of(rule, policy), ", or "), confirm);
}

std::string in_words(const FindingRule& rule) {
  return fmt::format("The finding {} {} where it is made.", word(rule.code), verb_of(rule.level));
}

std::vector<std::string> in_words(const Policy& policy) {
  std::vector<std::string> out;
  const BaselineOptions& baseline = policy.baseline;
  out.push_back(fmt::format("The baseline is the newest {} of {}; with fewer than {} the gate is learning.",
                            counted(baseline.runs, "run"), branch_of(policy), baseline.min_runs));
  if (!baseline.epoch.empty()) out.push_back(fmt::format("Nothing before {} counts.", baseline.epoch));
  if (!baseline.pinned.empty())
    out.push_back(fmt::format(
        "Every rule against the baseline is also judged against {}, so that small steps do not add up unseen.",
        baseline.pinned));
  out.push_back(policy.environment_match.empty()
                    ? "Runs of all environments are compared with each other."
                    : fmt::format("Only runs with equal {} are compared.", fmt::join(policy.environment_match, ", ")));
  if (policy.gpu_hour) out.push_back(fmt::format("An hour of one GPU costs {:g}.", *policy.gpu_hour));
  return out;
}

}  // namespace traceweir::gate
