#include <doctest/doctest.h>

#include <string>

#include "server/wire/diff.hpp"
#include "server/wire/explanation_text.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::wire {
namespace {

gate::Explanation an_explanation() {
  gate::Explanation out{"gpu.utilization", Unit::ratio, "run-3", 0.891, 0.68, -0.211, "gpu.utilization fell", {}};
  out.contributions = {{gate::Cause::idle_input, "waiting for input", "data_loading", -0.183, ""},
                       {gate::Cause::compute, "gemm<N>", "", -0.02, "5 calls a step instead of 3"},
                       {gate::Cause::other, "other", "", -0.008, ""}};
  return out;
}

gate::Cost a_cost() { return {8, 2.5, 4.2, 1.25, std::nullopt, "Of 20.00 an hour."}; }

DiffDocument a_diff() {
  DiffDocument document{{"r1", "c1", "main", "ddp", ""}, {"", "", "", "", "after.json"}, {}};
  document.diff.summary = "gpu.utilization fell";
  document.diff.environment = {{"driver", "550", ""}};
  document.diff.metrics = {{"gpu.utilization", Unit::ratio, 0.891, 0.68}, {"step.time_mean", Unit::ns, 5e7, 6e7}};
  document.diff.explanations = {an_explanation()};
  document.diff.facts = {"driver is unknown instead of 550."};
  document.diff.workload_changed = gate::WorkloadChange{"Workload changed: much.", {"much"}};
  document.diff.cost = a_cost();
  return document;
}

}  // namespace

TEST_CASE("explanation: a comparison is read back the same") {
  const std::string text = to_json(a_diff());
  const auto back = diff_from_json(text);
  REQUIRE_MESSAGE(back, back.error().message);
  CHECK(to_json(*back) == text);
  CHECK(text.starts_with(R"({"schema":"traceweir.diff/1","summary":)"));
  CHECK(text.find(R"("step.time_mean","unit":"ns","base":50000000,"head":60000000,"delta":10000000})") !=
        std::string::npos);
  CHECK(text.find(R"({"cause":"idle.input","name":"waiting for input","phase":"data_loading","delta":-0.183})") !=
        std::string::npos);
  CHECK(back->diff.explanations.front().contributions[1].note == "5 calls a step instead of 3");
}

TEST_CASE("explanation: a verdict carries its reasons both ways, one without any reads as before") {
  VerdictDocument document;
  document.verdict.explanations = {an_explanation()};
  document.verdict.facts = {"a fact"};
  document.verdict.workload_changed = gate::WorkloadChange{"s", {"r"}};
  document.verdict.cost = a_cost();
  const std::string text = to_json(document);
  const auto back = verdict_from_json(text);
  REQUIRE_MESSAGE(back, back.error().message);
  CHECK(to_json(*back) == text);
  CHECK(back->verdict.explanations.front().against_run == "run-3");
  const auto old = verdict_from_json(R"({"outcome":"pass","summary":"s","rules":[]})");
  REQUIRE(old);
  CHECK(old->verdict.explanations.empty());
  CHECK_FALSE(old->verdict.cost);
}

TEST_CASE("explanation: what is wrong is named; a cause of a newer service reads as other") {
  CHECK(diff_from_json(R"({"schema":"traceweir.diff/2","summary":""})").error().message.find("schema") !=
        std::string::npos);
  const auto no_delta = verdict_from_json(
      R"({"outcome":"fail","summary":"s","explanations":[{"metric":"m","unit":"ns","base":1,"head":2,"sentence":"s"}]})");
  CHECK(no_delta.error().message.find("delta") != std::string::npos);
  const auto newer = verdict_from_json(
      R"({"outcome":"fail","summary":"s","explanations":[{"metric":"m","unit":"ns","base":1,"head":2,"delta":1,)"
      R"("sentence":"s","contributions":[{"cause":"gravity","name":"g","delta":1}]}]})");
  REQUIRE_MESSAGE(newer, newer.error().message);
  CHECK(newer->verdict.explanations.front().contributions.front().cause == gate::Cause::other);
}

TEST_CASE("explanation: for people") {
  CHECK(to_text(an_explanation()) ==
        "gpu.utilization fell\n"
        "    -18.3 pp    87 %  idle, waiting for input, in data_loading\n"
        "     -2.0 pp     9 %  compute in gemm<N> (5 calls a step instead of 3)\n"
        "     -0.8 pp     4 %  other\n");
  const std::string markdown = to_markdown(a_diff());
  CHECK(markdown.find("compute in gemm&lt;N&gt; | 5 calls a step instead of 3 |") != std::string::npos);
  CHECK(markdown.find("Workload changed: much.") != std::string::npos);
  CHECK(to_text(a_diff()).find("step.time_mean") != std::string::npos);
  CHECK(explanations_markdown(gate::Verdict{}).empty());
  CHECK(explanations_text(gate::Verdict{}).empty());
}

}  // namespace traceweir::wire
