// What a series shows: changes, segments, and what of it is news.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "server/pipeline/series_levels.hpp"

using namespace traceweir;
using namespace traceweir::pipeline;

namespace {

constexpr const char* step = "step.time_p50";

store::Timestamp moment(std::size_t n) { return store::Timestamp{std::chrono::seconds{n}}; }

/// `runs` runs around `level` each; all of them count unless told otherwise.
store::Series series_of(std::initializer_list<std::pair<double, int>> levels) {
  store::Series series;
  for (const auto& [level, runs] : levels)
    for (int i = 0; i < runs; ++i) {
      const std::string number = std::to_string(series.runs.size());
      series.runs.push_back({"r" + number, "c" + number, true, moment(series.runs.size()), std::nullopt});
      series.values[step].push_back(level * (i % 2 == 0 ? 1.002 : 0.998));
    }
  return series;
}

store::Acceptance acceptance_at(const std::string& run, const std::string& commit = "") {
  store::Acceptance acceptance;
  acceptance.id = "a-" + run;
  acceptance.run = run;
  acceptance.commit = commit;
  acceptance.values = {{step, 1}};
  return acceptance;
}

SeriesAnswer answer_of(const store::Series& series, const std::vector<store::Acceptance>& acceptances = {},
                       Better side = Better::lower) {
  return levels_of({series, step, side, 5, std::nullopt, acceptances});
}

std::string text_of(const std::vector<store::StoredSegment>& segments) {
  std::string text;
  for (const store::StoredSegment& segment : segments)
    text += segment.first_run + ".." + segment.last_run + " " + std::to_string(segment.runs) + " " +
            std::string(word(segment.began)) + "; ";
  return text;
}

}  // namespace

TEST_CASE("series: a change names both commits, both levels, and its side") {
  const SeriesAnswer answer = answer_of(series_of({{100, 8}, {110, 8}}));
  REQUIRE(answer.changes.size() == 1);
  const store::StoredChange& change = answer.changes[0];
  CHECK(change.run == "r8");
  CHECK(change.previous_run == "r7");
  CHECK(change.commit == "c8");
  CHECK(change.previous_commit == "c7");
  CHECK(change.before == doctest::Approx(100));
  CHECK(change.after == doctest::Approx(110));
  CHECK(change.p < 0.001);
  CHECK(change.better == false);
  CHECK(answer_of(series_of({{110, 8}, {100, 8}})).changes.at(0).better == true);
  CHECK(answer_of(series_of({{100, 8}, {110, 8}}), {}, Better::higher).changes.at(0).better == true);
  CHECK_FALSE(answer_of(series_of({{100, 8}, {110, 8}}), {}, Better::none).changes.at(0).better.has_value());
}

TEST_CASE("series: what begins a segment") {
  CHECK(text_of(answer_of(series_of({{100, 8}})).segments) == "r0..r7 8 first; ");
  CHECK(text_of(answer_of(series_of({{100, 8}, {90, 4}})).segments) == "r0..r11 12 first; ");
  CHECK(text_of(answer_of(series_of({{100, 8}, {90, 5}})).segments) == "r0..r7 8 first; r8..r12 5 improvement; ");
  CHECK(text_of(answer_of(series_of({{90, 8}, {100, 8}})).segments) == "r0..r15 16 first; ");
  CHECK(text_of(answer_of(series_of({{90, 8}, {100, 2}}), {acceptance_at("r8")}).segments) ==
        "r0..r7 8 first; r8..r9 2 acceptance; ");
  store::Series failed = series_of({{90, 8}, {100, 4}});
  for (std::size_t i = 8; i < 12; ++i) failed.runs[i].counts = false;
  CHECK(text_of(answer_of(failed).segments) == "r0..r7 8 first; ");
  CHECK(text_of(levels_of({failed, step, Better::lower, 5, moment(3), {}}).segments) ==
        "r0..r2 3 first; r3..r7 5 epoch; ");
  failed.runs[3].committed_at = moment(0);  // the commit's time counts where it is known
  CHECK(text_of(levels_of({failed, step, Better::lower, 5, moment(3), {}}).segments) ==
        "r0..r3 4 first; r4..r7 4 epoch; ");
  CHECK(answer_of({}).segments.empty());
}

TEST_CASE("series: an acceptance stands at its run, else at its commit, else at what merged it") {
  const store::Series series = series_of({{100, 8}});
  CHECK(place_in(series.runs, acceptance_at("r5", "c2")) == 5u);
  CHECK(place_in(series.runs, acceptance_at("elsewhere", "c2")) == 2u);
  store::Acceptance merged = acceptance_at("elsewhere", "of a branch");
  CHECK_FALSE(place_in(series.runs, merged).has_value());
  merged.children = {"unknown", "c6"};
  CHECK(place_in(series.runs, merged) == 6u);
}

TEST_CASE("series: a change for the worse is news once") {
  store::Series series = series_of({{100, 8}, {110, 8}});
  SeriesAnswer answer = answer_of(series);
  REQUIRE(answer.drifts.size() == 1);
  CHECK(drift_sentence(step, Unit::ns, answer.drifts[0]) == "drift: step.time_p50 rose 10.0 % between c7 and c8");
  series.told[step] = {"r8"};
  CHECK(answer_of(series).drifts.empty());
  series.told[step] = {"r10"};  // its place moves while more runs come
  CHECK(answer_of(series).drifts.empty());
  series.told.clear();
  CHECK(answer_of(series, {acceptance_at("r8")}).drifts.empty());
  CHECK(answer_of(series, {acceptance_at("r12")}).drifts.empty());
  CHECK(answer_of(series, {acceptance_at("r2")}).drifts.size() == 1);
  CHECK(answer_of(series, {acceptance_at("r8")}).changes[0].accepted);
}

TEST_CASE("series: what is over, better, or long ago is no news") {
  CHECK(answer_of(series_of({{110, 8}, {100, 8}})).drifts.empty());
  CHECK(answer_of(series_of({{100, 8}, {110, 8}, {100, 8}})).drifts.empty());
  CHECK(answer_of(series_of({{100, 8}, {110, 60}})).drifts.empty());
  CHECK(answer_of(series_of({{100, 8}, {110, 8}, {120, 8}})).drifts.size() == 2);
  CHECK(answer_of(series_of({{100, 8}, {110, 8}}), {}, Better::none).drifts.empty());
}

// Why: a run that does not measure the metric is no point, and one with a wild value is none either.
TEST_CASE("series: gaps and wild values are left out") {
  store::Series series = series_of({{100, 8}, {110, 8}});
  series.runs.insert(series.runs.begin() + 8, {"gap", "cg", true, moment(0), std::nullopt});
  series.values[step].insert(series.values[step].begin() + 8, std::nullopt);
  series.runs.push_back({"wild", "cw", true, moment(0), std::nullopt});
  series.values[step].push_back(1e300);
  const SeriesAnswer answer = answer_of(series, {acceptance_at("gap")});
  REQUIRE(answer.changes.size() == 1);
  CHECK(answer.changes[0].run == "r8");
  CHECK(answer.changes[0].previous_run == "r7");
  CHECK(answer.changes[0].accepted);
  CHECK(answer.segments.back().last_run == "r15");
}
