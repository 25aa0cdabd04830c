// Rules on findings: that a finding was not made is no pass where it could not have been.
#include "gate/finding_rule.hpp"

#include <string>
#include <vector>

#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {

constexpr FindingCode of_the_data[] = {FindingCode::truncated, FindingCode::few_steps, FindingCode::clock_base_missing};
constexpr FindingCode of_the_job[] = {FindingCode::input_bound, FindingCode::exposed_allreduce, FindingCode::gap,
                                      FindingCode::low_utilization};
constexpr FindingCode of_steps[] = {FindingCode::sync_in_step, FindingCode::alloc_in_step,
                                    FindingCode::many_small_copies, FindingCode::accumulation_sync};
constexpr FindingCode of_ranks[] = {FindingCode::straggler, FindingCode::rank_imbalance};

/// A run whose report has these rows.
JudgedRun having(std::vector<metrics::Measurement> rows, std::int64_t ranks = 1) {
  JudgedRun run;
  run.measurements = std::move(rows);
  run.ranks_expected = run.ranks_present = ranks;
  return run;
}

metrics::Measurement own(double value) { return {"custom.t", Number(value), Unit::count, Better::lower, std::nullopt}; }

const JudgedRun whole = having({measured("gpu.utilization", 0.9), measured("step.time_mean", 1e8)}, 2);
const JudgedRun alone = having({measured("gpu.utilization", 0.9), measured("step.time_mean", 1e8)});
const JudgedRun unmarked =
    having({measured("gpu.utilization", 0.9), unmeasured("step.time_mean", NotMeasured::no_steps)}, 2);
const JudgedRun of_the_host = having({unmeasured("gpu.utilization", NotMeasured::no_gpu_work)}, 2);
const JudgedRun apart =
    having({measured("gpu.utilization", 0.9), unmeasured("allreduce.wait_share", NotMeasured::ranks_apart)}, 2);
const JudgedRun values_alone = having({own(1), unmeasured("gpu.utilization", NotMeasured::no_gpu_work)});
const JudgedRun nothing_else = having({own(1)}), empty = having({});

void check(std::span<const FindingCode> codes, const JudgedRun& run, std::string_view why) {
  for (const FindingCode code : codes) {
    CAPTURE(word(code));
    const RuleResult result = judge_finding({code, Level::fail}, run, std::nullopt);
    CHECK(result.reason == (why.empty() ? Reason::within : Reason::not_measured));
    CHECK(result.outcome == (why.empty() ? Outcome::pass : Outcome::inconclusive));
    CHECK(result.observed.has_value() == why.empty());
    CHECK(result.next.empty() == why.empty());
    CHECK(result.sentence.find(why) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("finding rules: all of them hold where everything is there and nothing was found") {
  for (const auto& codes : {std::span<const FindingCode>(of_the_data), std::span<const FindingCode>(of_the_job),
                            std::span<const FindingCode>(of_steps), std::span<const FindingCode>(of_ranks)})
    check(codes, whole, "");
}

TEST_CASE("finding rules: what a finding is made from must be there") {
  for (const JudgedRun& run : {values_alone, nothing_else, empty})
    for (const auto& codes : {std::span<const FindingCode>(of_the_data), std::span<const FindingCode>(of_the_job),
                              std::span<const FindingCode>(of_steps), std::span<const FindingCode>(of_ranks)})
      check(codes, run, "no trace to find it in");
  check(of_the_data, of_the_host, "");
  check(of_the_job, of_the_host, "no GPU work");
  check(of_ranks, of_the_host, "no GPU work");
  check(of_steps, unmarked, "no steps are marked");
  check(of_the_job, unmarked, "");
  check(of_ranks, alone, "it takes two ranks, and there is one");
  check(of_the_job, alone, "");
  check(std::span(of_ranks).first(1), apart, "the ranks were analysed apart");
  check(std::span(of_ranks).last(1), apart, "");
}

TEST_CASE("finding rules: one that was made counts, whatever else is missing") {
  for (const JudgedRun& run : {whole, alone, unmarked, of_the_host, values_alone, empty})
    for (const FindingCode code : {FindingCode::straggler, FindingCode::sync_in_step, FindingCode::truncated}) {
      JudgedRun found = run;
      found.findings = {finding_of(code, Severity::warning)};
      CHECK(judge_finding({code, Level::fail}, found, std::nullopt).reason == Reason::found);
    }
}

TEST_CASE("finding rules: a policy of nothing else is inconclusive without a trace, and does not learn") {
  const Verdict verdict = judge_one(values_alone, baseline_of("custom.t", {}),
                                    policy_of("[rules]\n[findings.straggler]\n[findings.input_bound]\n"));
  CHECK(verdict.outcome == Outcome::inconclusive);
  CHECK_FALSE(verdict.learning);
  CHECK(exit_code(verdict, Strictness::lenient) == 3);
}
