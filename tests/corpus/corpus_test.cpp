// Every file of the corpus, through reader and metrics, against an independent brute force: integers exactly, floats
// within 1e-9 relative. Why: these are real traces of real tools; what breaks here breaks in use.
#include <doctest/doctest.h>

#include "tests/corpus/oracle.hpp"

using namespace traceweir;
using corpus::Comparison;
using nlohmann::json;

namespace {

/// The oracle's window words: `default` and `auto` are the rule of the spec.
metrics::MeasureOptions options_of(const std::string& window) {
  if (window == "default" || window == "auto") return {};
  return metrics::with_window({}, window).value();
}

/// Counts over all files, printed at the end.
struct Tally {
  int compared = 0;
  int different = 0;
  int refused = 0;

  void add(const Comparison& comparison) {
    compared += comparison.compared();
    different += comparison.different();
  }
};

std::vector<metrics::RankShare> shares_of(const std::vector<timeline::Timeline>& timelines,
                                          const metrics::MeasureOptions& options) {
  std::vector<metrics::RankShare> shares;
  for (const timeline::Timeline& timeline : timelines) {
    const auto view = metrics::view_of(timeline, options);
    REQUIRE_MESSAGE(view, view.error().message);
    const std::int64_t rank = timeline.rank.value_or(static_cast<std::int64_t>(shares.size()));
    shares.push_back(metrics::share_of(*view, metrics::measure(*view), rank));
  }
  return shares;
}

void compare_ranks(const std::string& where, const std::vector<timeline::Timeline>& timelines,
                   const metrics::MeasureOptions& options, const json& want, Tally& tally) {
  CHECK_MESSAGE(timelines.size() == want.size(), where << ": ranks");
  for (std::size_t i = 0; i < std::min(timelines.size(), want.size()); ++i) {
    Comparison comparison(where + " rank " + std::to_string(i));
    const auto view = metrics::view_of(timelines[i], options);
    if (view)
      comparison.rank(*view, metrics::measure(*view), want[i]);
    else
      comparison.differs("view", view.error().message, "a window");
    tally.add(comparison);
  }
}

void compare_file(const std::string& file, const std::string& window, const json& want, Tally& tally) {
  const std::string where = file + " [" + window + "]";
  const auto& timelines = corpus::timelines_of(file);
  if (want.contains("error")) {
    CHECK_MESSAGE(!timelines, where << ": refused");
    if (!timelines) CHECK_MESSAGE(word(timelines.error().code) == want["error"], where << timelines.error().message);
    ++tally.refused;
    return;
  }
  if (!timelines) return Comparison(where).differs("read_trace", timelines.error().message, "timelines");
  compare_ranks(where, *timelines, options_of(window), want["ranks"], tally);
  if (!want.contains("run")) return;
  Comparison comparison(where + " run");
  comparison.run(metrics::measure_run(shares_of(*timelines, options_of(window))), want["run"]);
  tally.add(comparison);
}

}  // namespace

TEST_CASE("corpus: every file gives the oracle's values") {
  const auto oracle = corpus::oracle();
  if (!oracle) return;
  Tally tally;
  for (const auto& [file, windows] : (*oracle)["files"].items())
    for (const auto& [window, want] : windows.items()) compare_file(file, window, want, tally);
  MESSAGE("corpus: " << (*oracle)["files"].size() << " files, " << tally.compared << " values compared, "
                     << tally.different << " different, " << tally.refused << " refused as expected");
  CHECK(tally.compared > 10000);
}

TEST_CASE("corpus: step patterns of the caller's") {
  const auto oracle = corpus::oracle();
  if (!oracle) return;
  Tally tally;
  for (const json& row : (*oracle)["patterns"]) {
    const std::string file = row["file"];
    const auto& timelines = corpus::timelines_of(file);
    REQUIRE_MESSAGE(timelines, file << ": " << timelines.error().message);
    metrics::MeasureOptions options = options_of(row["window"]);
    options.steps = row["steps"].get<std::string>();
    compare_ranks(file + " steps " + *options.steps, *timelines, options, row["expected"]["ranks"], tally);
  }
  MESSAGE("patterns: " << tally.compared << " values compared, " << tally.different << " different");
  CHECK(tally.compared > 0);
}

TEST_CASE("corpus: several files as ranks of one run") {
  const auto oracle = corpus::oracle();
  if (!oracle) return;
  Tally tally;
  for (const json& row : (*oracle)["runs"]) {
    std::vector<metrics::RankShare> shares;
    for (const std::string file : row["files"]) {
      const auto& timelines = corpus::timelines_of(file);
      REQUIRE_MESSAGE(timelines, file << ": " << timelines.error().message);
      for (metrics::RankShare& share : shares_of(*timelines, options_of(row["window"])))
        shares.push_back(std::move(share));
    }
    Comparison comparison(row["files"].dump() + " [" + row["window"].get<std::string>() + "]");
    comparison.run(metrics::measure_run(shares), row["expected"]);
    tally.add(comparison);
  }
  MESSAGE("runs: " << tally.compared << " values compared, " << tally.different << " different");
  CHECK(tally.compared > 0);
}
