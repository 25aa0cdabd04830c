// Real pairs: what is said of them, and which of them are told to be of two programs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gate/diff.hpp"
#include "gate/explain.hpp"
#include "gate/workload_identity.hpp"
#include "tests/corpus/oracle.hpp"

using namespace traceweir;

namespace {

report::Report report_of(const std::string& file) {
  const auto& timelines = corpus::timelines_of(file);
  REQUIRE_MESSAGE(timelines, file << ": " << timelines.error().message);
  const std::vector<report::TraceFacts> facts(timelines->size());
  auto report = report::report_of(*timelines, facts);
  REQUIRE_MESSAGE(report, file << ": " << report.error().message);
  return *std::move(report);
}

void check_sums(const gate::Diff& diff) {
  for (const gate::Explanation& explanation : diff.explanations) {
    CAPTURE(explanation.metric);
    double sum = 0;
    for (const gate::Contribution& row : explanation.contributions) sum += row.delta;
    CHECK(std::abs(sum - explanation.delta) <= (explanation.unit == Unit::ratio ? 1e-12 : 1));
    CHECK(explanation.contributions.size() <= gate::contributions_max);
  }
}

const gate::Explanation& explanation_of(const gate::Diff& diff, std::string_view metric) {
  const auto found = std::find_if(diff.explanations.begin(), diff.explanations.end(),
                                  [&](const gate::Explanation& row) { return row.metric == metric; });
  REQUIRE(found != diff.explanations.end());
  return *found;
}

bool says(const std::string& sentence, const std::string& words) { return sentence.find(words) != std::string::npos; }

/// Captures of one program: two ranks of a job, two configurations, one job twice.
const std::set<std::pair<std::string, std::string>>& one_program() {
  static const std::set<std::pair<std::string, std::string>> pairs = {
      {"kineto/hta_alexnet.json.gz", "kineto/hta_simple_add.json.gz"},
      {"kineto/hta_sampled_rank0.json.gz", "kineto/hta_sampled_rank1.json.gz"},
      {"kineto/hta_trace_compare_base.json.gz", "kineto/hta_trace_compare_test.json.gz"},
      {"kineto/hta_trace_diff_control.json.gz", "kineto/hta_trace_diff_test.json.gz"},
      {"kineto/megatron_tp2_rank0.pt.trace.json", "kineto/megatron_tp2_rank1.pt.trace.json"},
      {"kineto/tbplugin_2021_workers0.pt.trace.json.gz", "kineto/tbplugin_2021_workers4.pt.trace.json.gz"},
      {"nsys/nsysai_mfu_2gpu_after.sqlite.zst", "nsys/nsysai_mfu_2gpu_before.sqlite.zst"}};
  return pairs;
}

bool has_compute(const report::Report& report) { return !gate::RunSide(report).kernels().by_name.empty(); }

}  // namespace

TEST_CASE("corpus: more workers of the data loader are found to be less waiting for input") {
  if (!corpus::oracle()) return;
  const gate::Diff diff = gate::diff_of(report_of("kineto/tbplugin_2021_workers0.pt.trace.json.gz"),
                                        report_of("kineto/tbplugin_2021_workers4.pt.trace.json.gz"));
  MESSAGE(diff.summary);
  check_sums(diff);
  for (const char* metric : {"step.time_p50", "step.time_mean", "gpu.idle", "gpu.utilization"}) {
    const gate::Explanation& explanation = explanation_of(diff, metric);
    CAPTURE(explanation.sentence);
    CHECK(says(explanation.sentence, "less idle time waiting for input"));
    CHECK(explanation.contributions.front().cause == gate::Cause::idle_input);
  }
  CHECK_FALSE(diff.workload_changed);
}

TEST_CASE("corpus: a 2-GPU training with more launch overhead and later ranks") {
  if (!corpus::oracle()) return;
  const gate::Diff diff = gate::diff_of(report_of("nsys/nsysai_mfu_2gpu_before.sqlite.zst"),
                                        report_of("nsys/nsysai_mfu_2gpu_after.sqlite.zst"));
  MESSAGE(diff.summary);
  check_sums(diff);
  CHECK(says(explanation_of(diff, "gpu.utilization").sentence, "idle time from launch overhead of the host"));
  CHECK(says(explanation_of(diff, "sendrecv.time_mean").sentence, "waiting for the slowest rank"));
  CHECK_FALSE(diff.workload_changed);
}

TEST_CASE("corpus: two programs are told apart, one is not") {
  const auto oracle = corpus::oracle();
  if (!oracle) return;
  std::map<std::string, report::Report> reports;
  for (const auto& [file, windows] : (*oracle)["files"].items()) {
    if (!corpus::timelines_of(file)) continue;
    report::Report report = report_of(file);
    if (has_compute(report)) reports.emplace(file, std::move(report));
  }
  int pairs = 0, missed = 0;
  double same_max = 0;
  for (auto a = reports.begin(); a != reports.end(); ++a)
    for (auto b = std::next(a); b != reports.end(); ++b) {
      const gate::RunSide base(a->second), head(b->second);
      const bool changed = gate::workload_change(base, head).has_value();
      CHECK(changed == gate::workload_change(head, base).has_value());
      if (one_program().contains({a->first, b->first})) {
        CHECK_MESSAGE(!changed, a->first << " and " << b->first);
        same_max = std::max(same_max, gate::identity_distance(base, head).foreign_kernels.value_or(0));
        continue;
      }
      ++pairs;
      if (changed) continue;
      ++missed;
      MESSAGE("not told apart: " << a->first << ", " << b->first);
    }
  MESSAGE(pairs << " pairs of two programs, " << missed << " not told apart; of one program at most " << 100 * same_max
                << " % foreign kernels");
  CHECK(pairs > 500);
  CHECK(missed * 100 <= pairs);
}

TEST_CASE("corpus: every pair's contributions add up") {
  const auto oracle = corpus::oracle();
  if (!oracle) return;
  std::vector<report::Report> reports;
  for (const auto& [file, windows] : (*oracle)["files"].items())
    if (corpus::timelines_of(file)) reports.push_back(report_of(file));
  int explained = 0;
  for (std::size_t i = 0; i < reports.size(); ++i)
    for (std::size_t j = i + 1; j < reports.size(); ++j) {
      const gate::Diff diff = gate::diff_of(reports[i], reports[j]);
      check_sums(diff);
      explained += static_cast<int>(diff.explanations.size());
    }
  MESSAGE(explained << " explanations");
  CHECK(explained > 1000);
}
