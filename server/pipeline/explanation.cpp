#include "server/pipeline/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "gate/cost.hpp"
#include "gate/explain.hpp"
#include "gate/run_facts.hpp"
#include "gate/workload_identity.hpp"

namespace traceweir::pipeline {
namespace {

bool is_worse(gate::Reason reason) {
  constexpr gate::Reason worse[] = {gate::Reason::worse, gate::Reason::over_limit, gate::Reason::worse_within_noise,
                                    gate::Reason::needs_confirmation};
  return std::find(std::begin(worse), std::end(worse), reason) != std::end(worse);
}

/// The run at the lower median of points that are newest first; empty: there are none.
std::string lower_median(std::vector<gate::BaselinePoint> points) {
  if (points.empty()) return {};
  const auto middle = points.begin() + static_cast<std::ptrdiff_t>((points.size() - 1) / 2);
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return middle->run;
}

/// Baseline runs with what explains this run by them, each read once.
class Explainers {
 public:
  Explainers(store::Store& store, const ExplainQuestion& question)
      : store_(store), project_(question.project), report_(question.report), recent_(question.recent) {}

  /// nullptr: the run has no report any more. Errors: store_unavailable.
  Result<const gate::Explainer*> against(const std::string& run) {
    if (const auto known = known_.find(run); known != known_.end()) return known->second.explainer.get();
    TRACEWEIR_TRY(report, report_of(run));
    Known& entry = known_[run];
    if (report == nullptr) return nullptr;
    entry.report = std::move(report);
    entry.explainer = std::make_unique<gate::Explainer>(*entry.report, report_);
    return entry.explainer.get();
  }

 private:
  /// nullptr: there is none, or of a version whose reports are not read any more.
  Result<std::shared_ptr<const report::Report>> report_of(const std::string& run) {
    if (const auto recent = recent_ == nullptr ? nullptr : recent_->find(run); recent != nullptr)
      return std::shared_ptr<const report::Report>(recent, &recent->report);
    TRACEWEIR_TRY(record, store_.run(project_, run));
    if (!record || record->report_json.empty()) return nullptr;
    auto base = report::from_json(record->report_json);
    if (!base) return nullptr;
    return std::make_shared<const report::Report>(*std::move(base));
  }

  struct Known {
    std::shared_ptr<const report::Report> report;
    std::unique_ptr<gate::Explainer> explainer;
  };
  store::Store& store_;
  const std::string& project_;
  const report::Report& report_;
  const RecentRuns* recent_;
  std::map<std::string, Known> known_;
};

/// "gpu.idle rose from … to …: 3 of 4 ms are …" without what the rule's own sentence says.
std::string causes_in(const std::string& sentence) {
  const std::size_t colon = sentence.find(": ");
  return colon == std::string::npos ? sentence : sentence.substr(colon + 2);
}

/// What is to be done about a rule that is broken; who shall run the job again is not sent elsewhere.
void say_next(gate::RuleResult& rule, const gate::Explanation& explanation) {
  const std::string look =
      fmt::format("Open the comparison with run {}: {}.", explanation.against_run, causes_in(explanation.sentence));
  if (rule.reason == gate::Reason::worse) rule.next = look;
  if (rule.reason == gate::Reason::over_limit) rule.next += " " + look;
}

void add_facts(gate::Verdict& verdict, const gate::Explainer& explainer) {
  verdict.facts = gate::facts_of(explainer.base(), explainer.head());
  verdict.workload_changed = gate::workload_change(explainer.base(), explainer.head());
}

/// The share in which the baseline's GPUs waited: the lower median over its runs.
std::optional<double> waiting_before(const gate::Baseline& baseline, std::int64_t runs) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const char* metric : gate::waiting_metrics) {
    const auto series = baseline.series.find(metric);
    if (series == baseline.series.end()) return std::nullopt;
    for (const gate::BaselinePoint& point : series->second) {
      sums[point.run].first += point.value;
      ++sums[point.run].second;
    }
  }
  std::vector<double> values;
  for (const std::string& run : baseline.runs) {
    const auto sum = sums.find(run);
    const bool whole = sum != sums.end() && sum->second.second == static_cast<int>(std::size(gate::waiting_metrics));
    if (whole && std::ssize(values) < runs) values.push_back(sum->second.first);
  }
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace

std::string median_run(const gate::Baseline& baseline, const std::string& metric, std::int64_t runs) {
  const auto series = baseline.series.find(metric);
  if (series == baseline.series.end()) return {};
  std::vector<gate::BaselinePoint> points;
  for (const gate::BaselinePoint& point : series->second)
    if (point.segment == 0 && std::ssize(points) < runs) points.push_back(point);
  return lower_median(std::move(points));
}

Result<void> explain(store::Store& store, const ExplainQuestion& question, gate::Verdict& verdict) {
  const auto& [project, report, baseline, policy, recent] = question;
  if (policy.gpu_hour)
    verdict.cost =
        gate::cost_of(gate::RunSide(report), *policy.gpu_hour, waiting_before(baseline, policy.baseline.runs));
  Explainers explainers(store, question);
  std::set<std::string> seen;
  for (gate::RuleResult& rule : verdict.rules) {
    const bool chosen = is_worse(rule.reason) && rule.against.empty() && gate::is_explained(rule.metric) &&
                        verdict.explanations.size() < explanations_max;
    if (!chosen || !seen.insert(rule.metric).second) continue;
    const std::string run = median_run(baseline, rule.metric, policy.baseline.runs);
    if (run.empty()) continue;
    TRACEWEIR_TRY(explainer, explainers.against(run));
    if (explainer == nullptr) continue;
    auto explanation = explainer->explain(rule.metric);
    if (!explanation) continue;
    explanation->against_run = run;
    say_next(rule, *explanation);
    if (verdict.explanations.empty()) add_facts(verdict, *explainer);
    verdict.explanations.push_back(*std::move(explanation));
  }
  // Another program may be better, too: its numbers are no improvement of this one.
  if (verdict.explanations.empty() && !baseline.runs.empty()) {
    TRACEWEIR_TRY(newest, explainers.against(baseline.runs.front()));
    if (newest != nullptr) verdict.workload_changed = gate::workload_change(newest->base(), newest->head());
  }
  return {};
}

void carry_explanations(const gate::Verdict& stored, gate::Verdict& now) {
  now.explanations = stored.explanations;
  now.facts = stored.facts;
  now.workload_changed = stored.workload_changed;
  now.cost = stored.cost;
  for (const gate::Explanation& explanation : now.explanations) {
    const auto rule = std::find_if(now.rules.begin(), now.rules.end(), [&](const gate::RuleResult& candidate) {
      return candidate.metric == explanation.metric && candidate.against.empty() && is_worse(candidate.reason);
    });
    if (rule != now.rules.end()) say_next(*rule, explanation);
  }
}

}  // namespace traceweir::pipeline
