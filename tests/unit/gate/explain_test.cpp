#include "gate/explain.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "gate/contributions.hpp"
#include "gate/cost.hpp"
#include "gate/diff.hpp"
#include "gate/kernel_names.hpp"
#include "gate/run_facts.hpp"
#include "gate/workload_identity.hpp"
#include "tests/unit/gate/explained_reports.hpp"

namespace traceweir::gate {
namespace {

using namespace cases;
using timeline::Collective;

/// The worked example of docs/explain.md: 2 steps of 100 ms, then 2 steps of 121 ms.
report::Report before() {
  return run_of_terms({idle(IdleCause::input, "data_loading", 10'000'000), compute("gemm<128>(float*)", 160'000'000),
                       exposed(Collective::allreduce, 67'108'864, 20'000'000), copies("h2d", 10'000'000)},
                      2);
}
report::Report after() {
  return run_of_terms({idle(IdleCause::input, "data_loading", 50'000'000), compute("gemm<64>(float*)", 160'000'000),
                       exposed(Collective::allreduce, 67'108'864, 22'000'000), copies("h2d", 10'000'000)},
                      2);
}

double sum_of(const Explanation& explanation) {
  double sum = 0;
  for (const Contribution& row : explanation.contributions) sum += row.delta;
  return sum;
}

}  // namespace

TEST_CASE("explain: a step's time by hand") {
  const report::Report base = before(), head = after();
  const Explanation step = Explainer(base, head).explain("step.time_mean").value();
  CHECK(step.base == 100e6);
  CHECK(step.head == 121e6);
  REQUIRE(step.contributions.size() == 2);
  CHECK(step.contributions[0].cause == Cause::idle_input);
  CHECK(step.contributions[0].phase == "data_loading");
  CHECK(step.contributions[0].delta == 20e6);
  CHECK(step.contributions[1].name == "allreduce 64 MiB");
  CHECK(step.contributions[1].delta == 1e6);
  CHECK(step.sentence ==
        "step.time_mean rose from 100 ms to 121 ms: 20 of 21 ms are idle time waiting for input in data_loading");
}

TEST_CASE("explain: utilization is the whole without its terms") {
  const report::Report base = before(), head = after();
  const Explanation utilization = Explainer(base, head).explain("gpu.utilization").value();
  // 1 - 10/200 - 10/200 = 0.9; 1 - 50/242 - 10/242 = 0.752
  CHECK(utilization.base == doctest::Approx(0.9));
  CHECK(utilization.head == doctest::Approx(182.0 / 242));
  REQUIRE(utilization.contributions.size() == 2);
  CHECK(utilization.contributions[0].delta == doctest::Approx(10.0 / 200 - 50.0 / 242));
  CHECK(utilization.contributions[1].cause == Cause::exposed_memory);
  CHECK(std::abs(sum_of(utilization) - utilization.delta) < 1e-12);
  CHECK(
      utilization.sentence.starts_with("gpu.utilization fell from 90.0 % to 75.2 %: all of the 14.8 points are idle"));
}

// Why: the row below the sentence says +5.00 ms; digits that tell a whole from nearly all of it have no reader.
TEST_CASE("explain: all of a difference is rounded as its row is") {
  const report::Report base = run_of_terms({idle(IdleCause::input, "", 1'000'000), compute("gemm", 9'000'000)}, 1);
  const report::Report head = run_of_terms({idle(IdleCause::input, "", 5'998'000), compute("gemm", 8'999'100)}, 1);
  const Explanation step = Explainer(base, head).explain("step.time_mean").value();
  CHECK(step.delta == 4'997'100);
  CHECK_MESSAGE(step.sentence.find(": all of the 5.00 ms are ") != std::string::npos, step.sentence);
}

TEST_CASE("explain: a quantile's difference from the mean's is a row of its own") {
  report::Report base = before(), head = after();
  head.measurements.back().mean.value = Number{131e6};  // step.time_p50
  const Explanation median = Explainer(base, head).explain("step.time_p50").value();
  CHECK(median.delta == 31e6);
  bool found = false;
  for (const Contribution& row : median.contributions)
    if (row.cause == Cause::distribution) found = row.delta == 10e6;
  CHECK(found);
  CHECK(std::abs(sum_of(median) - 31e6) < 1);
}

TEST_CASE("explain: what cannot be explained is not") {
  report::Report base = before(), head = after();
  const auto explained = [&](const char* metric) { return Explainer(base, head).explain(metric).has_value(); };
  CHECK(explained("gpu.idle"));
  CHECK_FALSE(explained("memcpy.h2d_share"));
  CHECK_FALSE(explained("allreduce.time_mean"));
  head.ranks.front().window->steps.reset();
  CHECK_FALSE(explained("step.time_mean"));
  CHECK(explained("gpu.idle"));
  head.ranks.front().window.reset();
  CHECK_FALSE(explained("gpu.idle"));
}

TEST_CASE("explain: a value that is not what the breakdown says shows as other") {
  report::Report base = before(), head = after();
  head.measurements.back().mean.value = Number{121e6};
  for (auto& row : head.measurements)
    if (row.mean.metric == "gpu.idle") row.mean.value = Number{0.9};
  const Explanation forged = Explainer(base, head).explain("gpu.idle").value();
  CHECK(forged.contributions.back().cause == Cause::other);
  CHECK(std::abs(sum_of(forged) - forged.delta) < 1e-12);
}

TEST_CASE("explain: small parts are one row, and there are never more than ten") {
  std::vector<Part> parts;
  for (int i = 0; i < 30; ++i) parts.push_back({{Cause::compute, fmt::format("kernel{}", i), 0}, 10.0 + i, {}});
  parts.push_back({{Cause::compute, "tiny", 0}, 1e-3, {}});
  parts.push_back({{Cause::compute, "equal", 0}, 0, {}});
  double delta = 0;
  for (const Part& part : parts) delta += part.delta;
  const std::vector<Contribution> rows = contributions_of(parts, delta);
  REQUIRE(rows.size() == contributions_max);
  CHECK(rows.front().name == "kernel29");
  CHECK(rows.back().cause == Cause::other);
  double sum = 0;
  for (const Contribution& row : rows) sum += row.delta;
  CHECK(sum == doctest::Approx(delta));
  // 2 % of the difference is a row, less is not.
  const std::vector<Contribution> two =
      contributions_of({{{Cause::graph, "", 0}, 98, {}}, {{Cause::compute, "a", 0}, 2, {}}}, 100);
  CHECK(two.size() == 2);
  CHECK(two.back().cause == Cause::compute);
  const std::vector<Contribution> merged =
      contributions_of({{{Cause::graph, "", 0}, 98.5, {}}, {{Cause::compute, "a", 0}, 1.5, {}}}, 100);
  CHECK(merged.back().cause == Cause::other);
}

TEST_CASE("explain: what one side lacks is new or gone only where the other side's list is whole") {
  const auto sums = [](std::vector<std::pair<const char*, double>> rows) {
    TermSums made;
    for (const auto& [name, value] : rows) made[{Cause::compute, name, 0}] = value;
    return made;
  };
  TermSums base = sums({{"a", 5}, {"b", 3}}), head = sums({{"a", 5}, {"c", 4}});
  fold_missing(base, head);
  CHECK(base.size() == 2);
  CHECK(head.size() == 2);
  base = sums({{"a", 5}, {"b", 3}}), head = sums({{"a", 5}, {"rest", 2}});
  fold_missing(base, head);
  CHECK(base == sums({{"a", 5}, {"rest", 3}}));
  CHECK(head == sums({{"a", 5}, {"rest", 2}}));
  // What came is new beside a list that was cut, where the other side's was not.
  base = sums({{"a", 5}, {"b", 3}}), head = sums({{"c", 4}, {"rest", 2}});
  fold_missing(base, head);
  CHECK(base == sums({{"rest", 8}}));
  CHECK(head == sums({{"c", 4}, {"rest", 2}}));
  // Message sizes: the rest is the row of unknown size.
  TermSums sized{{{Cause::exposed_comm, "allreduce", 64}, 7}}, unsized{{{Cause::exposed_comm, "allreduce", 0}, 9}};
  fold_missing(sized, unsized);
  CHECK(sized == TermSums{{{Cause::exposed_comm, "allreduce", 0}, 7}});
}

TEST_CASE("explain: a collective's mean by size, mix and waiting") {
  // Base: half of the calls of size 1 with 10 ns, half of size 2 with 20 ns: 15. Head: all of size 2 with 26 ns.
  const Sizes base{{1, {0.5, 10, std::nullopt}}, {2, {0.5, 20, std::nullopt}}};
  const Sizes head{{2, {1, 26, std::nullopt}}};
  // centre 20.5; size 2: slower 0.75·6 = 4.5, mix (23 - 20.5)·0.5 = 1.25; size 1: (10 - 20.5)·(-0.5) = 5.25
  const std::vector<Part> parts = collective_parts(Collective::allreduce, base, head);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].delta == 5.25);
  CHECK(parts[1].key.cause == Cause::size_slower);
  CHECK(parts[1].delta == 4.5);
  CHECK(parts[2].delta == 1.25);
  // With matched ranks the slower part is transfer and waiting.
  const std::vector<Part> matched = collective_parts(Collective::allreduce, {{2, {1, 20, 15.0}}}, {{2, {1, 26, 16.0}}});
  REQUIRE(matched.size() == 3);
  CHECK(matched[0].key.cause == Cause::transfer);
  CHECK(matched[0].delta == 1);
  CHECK(matched[1].key.cause == Cause::wait);
  CHECK(matched[1].delta == 5);
  // A side that knows no sizes is compared as a whole.
  const std::vector<Part> whole = collective_parts(Collective::allreduce, base, {{0, {1, 26, std::nullopt}}});
  double sum = 0;
  for (const Part& part : whole) sum += part.delta;
  CHECK(sum == 11);
  for (const Part& part : whole) CHECK(part.key.bytes == 0);
}

TEST_CASE("explain: a kernel's name without what tuning changes") {
  struct Row {
    const char* name;
    const char* normalised;
    const char* called;
  };
  const Row rows[] = {
      {"void f<128, float>(int, float*)", "f<N, float>", "f"},
      {"void at::native::(anonymous namespace)::g<4, at::F<16> >(int)", "at::native::g<N, at::F<N> >", "g"},
      {"triton_poi_fused_add_12", "triton_poi_fused_add", "triton_poi_fused_add"},
      {"conv2d", "conv2d", "conv2d"},
      {"sm90_gemm_128x64", "sm90_gemm_128x64", "sm90_gemm_128x64"},
      {"cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64>(Params)",
       "cutlass::Kernel2<cutlass_N_tensorop_sNgemm_NxN>", "Kernel2"},
      {"12345", "12345", "12345"},
      {"(odd)", "(odd)", "(odd)"},
      {"<<<", "<<<", "<<<"},
      {"", "", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(normalised_kernel(row.name) == row.normalised);
    CHECK(short_kernel(normalised_kernel(row.name)) == row.called);
  }
}

TEST_CASE("explain: facts name what came, what went and what else differs") {
  report::Report base = before(), head = after();
  base.ranks.front().environment.driver = "550.54";
  head.ranks.front().environment.driver = "560.28";
  base.ranks.front().findings = {{FindingCode::hot_gpu, Severity::warning, std::nullopt, 1, {}, "Cool it."}};
  head.ranks.front().findings = {{FindingCode::input_bound, Severity::warning, std::nullopt, 1, {}, "More workers."}};
  set_metric(base, "launch.count_per_step", 40);
  set_metric(head, "launch.count_per_step", 52);
  const std::vector<std::string> facts = facts_of(RunSide(base), RunSide(head));
  CHECK(facts == std::vector<std::string>{"launch.count_per_step is 52 instead of 40.",
                                          "The finding input_bound is new: More workers.",
                                          "The finding hot_gpu is gone.", "driver is 560.28 instead of 550.54."});
  const std::vector<EnvironmentChange> changes = environment_changes(base, head);
  REQUIRE(changes.size() == 1);
  CHECK(changes.front().key == "driver");
}

TEST_CASE("cost: shares of the window in money") {
  const report::Report base = before(), head = after();
  const RunSide run(head);
  const Cost cost = cost_of(run, 2.5, waiting_share(RunSide(base))).value();
  CHECK(cost.gpus == 1);
  CHECK(cost.idle_per_hour == doctest::Approx(2.5 * 50 / 242));
  CHECK(cost.exposed_per_hour.value() == doctest::Approx(2.5 * 32 / 242));
  CHECK(cost.delta_per_hour.value() == doctest::Approx(2.5 * (82.0 / 242 - 40.0 / 200)));
  CHECK(
      cost.sentence ==
      "Of 2.50 an hour for 1 GPU, 0.52 are idle time and 0.33 exposed communication and copies; 0.35 more an hour than "
      "the baseline.");
  CHECK_FALSE(cost_of(run, 2.5, std::nullopt).value().delta_per_hour);
  report::Report empty;
  CHECK_FALSE(cost_of(RunSide(empty), 2.5, std::nullopt));
}

TEST_CASE("workload identity: other kernels, other launches, other messages") {
  const auto with = [](const std::vector<std::pair<const char*, std::int64_t>>& kernels, double launches) {
    report::Report report = before();
    for (const auto& [name, ns] : kernels)
      report.ranks.front().kernels.push_back({name, timeline::WorkKind::compute, 10, Nanos{ns}, 0.1});
    set_metric(report, "launch.count_per_step", launches);
    return report;
  };
  const report::Report base = with({{"a", 60}, {"b", 40}}, 40);
  const auto changed = [&](const report::Report& head) {
    const auto change = workload_change(RunSide(base), RunSide(head));
    return change ? change->sentence : std::string();
  };
  CHECK(changed(base).empty());
  CHECK(changed(with({{"a", 600}, {"b", 40}}, 40)).empty());            // slower is no other program
  CHECK(changed(with({{"a", 60}, {"b", 40}, {"c", 40}}, 60)).empty());  // nor is a new kernel beside the old ones
  CHECK(changed(with({{"c", 60}, {"b", 40}}, 40)) ==
        "Workload changed: 60 % of the compute time is in kernels that the other run does not have. These numbers "
        "compare two programs.");
  CHECK(changed(with({{"a", 60}, {"b", 40}}, 100)).find("the kernels a step differ 2.5 times (100 instead of 40)") !=
        std::string::npos);
}

}  // namespace traceweir::gate
