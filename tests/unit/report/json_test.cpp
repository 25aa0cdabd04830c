#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "analyzer/report/json_node.hpp"
#include "analyzer/report/rest.hpp"
#include "analyzer/report/size.hpp"
#include "tests/unit/report/reports.hpp"

namespace traceweir::report::test {
namespace {

using Json = nlohmann::ordered_json;

std::string message_of(const Result<Report>& result) { return result ? std::string() : result.error().message; }

/// The full report with one value replaced.
std::string with(const char* pointer, const Json& value) {
  Json document = Json::parse(to_json(full_report()));
  document[Json::json_pointer(pointer)] = value;
  return document.dump();
}

std::string without(const char* parent, const char* key) {
  Json document = Json::parse(to_json(full_report()));
  document[Json::json_pointer(parent)].erase(key);
  return document.dump();
}

}  // namespace

// Why: the report crosses from the child or the CI node to the service; nothing may be lost or rounded on the way.
TEST_CASE("report: JSON and back is the same text") {
  const std::string text = to_json(full_report());
  const auto again = from_json(text);
  REQUIRE_MESSAGE(again.has_value(), message_of(again));
  CHECK(to_json(*again) == text);
  CHECK(to_json(*again, 2) == to_json(full_report(), 2));
}

// Why: readers outside rely on names, order and number types.
TEST_CASE("report: shapes of the contract") {
  const Json document = Json::parse(to_json(full_report()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : document["ranks"][0].items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"rank", "world_size", "trace", "environment", "window", "devices",
                                         "measurements", "breakdown", "steps", "kernels", "collectives", "phases",
                                         "findings"});
  const Json& rank = document["ranks"][0];
  CHECK(rank["window"].dump() == R"({"kind":"steps","start_ns":-50,"length_ns":1000,"steps":2,"skipped_steps":1})");
  CHECK(rank["measurements"][5].dump() ==
        R"({"metric":"allreduce.busbw","value":null,"unit":"GB/s","better":"higher","not_measured":"no_sizes"})");
  CHECK(rank["measurements"][3]["value"].is_number_integer());
  CHECK(rank["measurements"][2]["value"].get<double>() == 1.0 / 3);
  CHECK(rank["breakdown"][0].dump() == R"({"term":"idle","cause":"input","phase":"data_loading","ns":200})");
  CHECK(rank["breakdown"][1]["phase"].is_null());
  CHECK(rank["breakdown"][4].dump() == R"({"term":"exposed_comm","kind":"allreduce","bytes":8196000,"ns":60})");
  CHECK(rank["breakdown"][5]["bytes"].is_null());
  CHECK(rank["steps"][0]["values"]["step.time_mean"].dump() == "500");
  CHECK(rank["kernels"][2].dump() == R"({"name":"rest","count":3,"total_ns":10,"share":0.01})");
  CHECK(
      document["run"]["measurements"][0].dump() ==
      R"({"metric":"gpu.utilization","value":0.6,"unit":"ratio","better":"higher","min":0.55,"max":0.65,"min_rank":1,"max_rank":0})");
  CHECK_FALSE(document["run"]["measurements"][2].contains("min"));
}

// Why: anybody may send a report; what is wrong must be named, and nothing that is wrong may get through.
TEST_CASE("from_json: refuses and names what is wrong") {
  struct Row {
    std::string text;
    const char* names;
  };
  const Row rows[] = {
      {"", "not JSON"},
      {"{\"schema\": \"traceweir.report/1\"", "byte"},
      {"\xff\xfe", "not JSON"},
      {"[]", "report"},
      {std::string(200, '[') + std::string(200, ']'), "deeper"},
      {std::string(report_bytes_max + 1, ' '), "bytes"},
      {to_json(full_report()) + std::string(std::size_t{1} << 20, ' '), "bytes"},
      {"[" + std::string(json_values_max, ',') + "]", "values"},
      {"{\"schema\": 1e999}", "out of range"},
      {with("/schema", "traceweir.report/2"), "schema"},
      {with("/ranks", Json::array()), "ranks"},
      {with("/ranks", "none"), "ranks"},
      {with("/ranks/0/rank", -1), "ranks[0].rank"},
      {with("/ranks/0/rank", 1.5), "ranks[0].rank"},
      {with("/ranks/1/rank", 0), "ranks[1].rank"},
      {with("/ranks/0/trace/bytes", 18446744073709551615ULL), "ranks[0].trace.bytes"},
      {with("/ranks/0/trace/sha256", "xyz"), "sha256"},
      {with("/ranks/0/environment/graph_mode", "sometimes"), "graph_mode"},
      {with("/ranks/0/window/length_ns", 0), "length_ns"},
      {with("/ranks/0/window/start_ns", 9223372036854775807LL), "start_ns"},
      {with("/ranks/0/window/length_ns", 9223372036854775807LL), "length_ns"},
      {with("/ranks/0/devices/0/idle_ns", 351), "add up"},
      {with("/run/collectives/0/matched", 0), "matched"},
      {with("/run/collectives/0/calls", 4), "matched"},
      {with("/run/collectives/0/transfer_ns", -1), "transfer_ns"},
      {with("/run/collectives/0/kind", "gossip"), "gossip"},
      {with("/run/collectives", "none"), "collectives"},
      {with("/run/measurements", Json(std::vector<Json>(measurements_max + 1, nullptr))), "run.measurements"},
      {with("/ranks/0/measurements", Json(std::vector<Json>(measurements_max + 1, nullptr))), "ranks[0].measurements"},
      {with("/ranks/0/devices/0/idle_causes_ns/sync", 101), "add up"},
      {with("/ranks/0/devices/0/compute_ns", -1), "compute_ns"},
      {with("/ranks/0/devices/0/compute_ns", 501), "add up"},
      {with("/ranks/0/breakdown/3/ns", 499), "breakdown"},
      {with("/ranks/0/breakdown/0/cause", "laziness"), "laziness"},
      {with("/ranks/0/measurements/0/unit", "ns"), "measured in ratio"},
      {with("/ranks/0/measurements/0/unit", "furlong"), "furlong"},
      {with("/ranks/0/measurements/0",
            {{"metric", "step.time_p50"}, {"value", -1}, {"unit", "ns"}, {"better", "lower"}}),
       "below 0"},
      {with("/ranks/0/measurements/0/value", nullptr), "not_measured"},
      {with("/ranks/0/measurements/5/value", 1.5), "not_measured"},
      {with("/ranks/0/measurements/1/metric", "gpu.utilization"), "second row"},
      {with("/ranks/0/measurements/0/metric", "a b"), "metric"},
      {with("/ranks/0/findings/0/severity", "fatal"), "fatal"},
      {with("/ranks/0/findings/0/code", "bad_weather"), "bad_weather"},
      {with("/ranks/0/findings/0/evidence", Json::array({1})), "evidence"},
      {with("/ranks/0/findings/0/evidence/x", Json::object()), "evidence.x"},
      {with("/ranks/0/steps/0/values/gpu.idle", "much"), "values.gpu.idle"},
      {with("/run/measurements/0/min", nullptr), "min"},
      {without("/ranks/0", "window"), ""},  // null and missing are one
      {without("/ranks/0/devices/0", "idle_ns"), "idle_ns: missing"},
      {without("/run", "findings"), "run.findings"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 80));
    CAPTURE(row.names);
    const auto result = from_json(row.text);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code == ErrorCode::bad_body);
    CAPTURE(result.error().message);
    CHECK(result.error().message.find(row.names) != std::string::npos);
    CHECK(result.error().message.size() < 1000);
  }
}

// Why: no list of mistakes is complete; whatever comes in must end as a report that can be written again, or an error.
TEST_CASE("from_json: damaged text is an error or a report") {
  const std::string text = to_json(full_report());
  const std::string_view replacements[] = {"0",     "-1", "null", "[]", "{}", "\"\"", "9223372036854775807",
                                           "1e308", "\\", ","};
  std::mt19937 random(7);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    const std::size_t at = random() % text.size();
    damaged.replace(at, random() % 4, replacements[random() % std::size(replacements)]);
    const auto result = from_json(damaged);
    if (!result) {
      CHECK(result.error().code == ErrorCode::bad_body);
      continue;
    }
    ++accepted;
    CHECK(from_json(to_json(*result)).has_value());
  }
  CHECK(accepted > 0);  // damage inside names does no harm
}

// Why: the contract lets newer versions add keys, and names are cleaned wherever they come in.
TEST_CASE("from_json: ignores new keys and cleans names") {
  const auto extended = from_json(with("/ranks/0/weather", "sunny"));
  REQUIRE(extended.has_value());
  CHECK(to_json(*extended) == to_json(full_report()));
  const auto odd = from_json(with("/ranks/0/kernels/0/name", "a\x1b[31mred\n::error::"));
  REQUIRE(odd.has_value());
  CHECK(odd->ranks[0].kernels[0].name == "a\\x1b[31mred\\x0a::error::");
}

// Why: a report is stored and sent for every commit; it must stay small whatever the trace holds, and lose nothing.
TEST_CASE("fit: a report of eight crowded ranks fits, and its sums stay") {
  Report report = full_report();
  report.ranks.clear();
  for (int r = 0; r < 8; ++r) {
    RankReport rank = full_rank(r);
    const std::string long_name(480, 'k');
    rank.kernels.clear();
    rank.breakdown.erase(rank.breakdown.begin() + 3);
    for (int k = 0; k < 1000; ++k) {
      rank.kernels.push_back({long_name + std::to_string(k), timeline::WorkKind::compute, 2, Nanos{1000 - k}, 0.001});
      if (k < 500)
        rank.breakdown.push_back({findings::TermKind::compute, long_name + std::to_string(k), {}, {}, 0, Nanos{1}});
      rank.phases.push_back({long_name + std::to_string(k), 1, Nanos{3}, Nanos{2}});
      rank.steps.push_back({k, long_name, Nanos{5}, {{"gpu.idle", 0.5}}});
      rank.collectives.push_back({timeline::Collective::allreduce, k + 1, 1, Nanos{7}, Nanos{7}, Nanos{7}, 2, "Float"});
    }
    report.ranks.push_back(rank);
  }
  fit(report);
  const std::string text = to_json(report);
  CHECK(text.size() <= std::size_t{1} << 20);
  const auto again = from_json(text);
  REQUIRE_MESSAGE(again.has_value(), message_of(again));
  CHECK(to_json(*again) == text);
  for (const RankReport& rank : report.ranks) {
    CHECK(rank.kernels.size() >= kernels_kept_min + 1);
    CHECK(rank.kernels.back().name == "rest");
    std::int64_t kernels = 0;
    std::int64_t total = 0;
    for (const auto& row : rank.kernels) kernels += row.count, total += row.total.count();
    CHECK(kernels == 2000);
    CHECK(total == 500500);
    std::int64_t phases = 0;
    for (const auto& row : rank.phases) phases += row.host.count();
    CHECK(phases == 3300);
    std::int64_t calls = 0;
    for (const auto& row : rank.collectives) calls += row.count;
    CHECK(calls == 1007);
    CHECK(rank.steps.size() <= metrics::step_values_max);
  }
}

namespace {

/// The full report with this text for every text, and the longest number for every number.
Report extreme_report(const std::string& text) {
  constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::min();
  constexpr double widest = -std::numeric_limits<double>::max() / 3;
  const Nanos ns{longest};
  RankReport rank = full_rank(longest);
  rank.world_size = longest;
  rank.trace = {text, text, longest, text, text, text};
  rank.environment = {{text, text}, longest, text, text, text, text, text};
  rank.window = metrics::Window{metrics::WindowKind::host_steps, {ns, Nanos{0}}, longest, longest};
  rank.devices[0].times = {longest, text, ns, ns, ns, ns, ns};
  for (auto& [cause, length] : rank.devices[0].idle_causes) length = ns;
  rank.measurements = {{text, Number{widest}, Unit::gb_per_s, Better::higher, NotMeasured::no_gpu_work}};
  for (findings::Term& term : rank.breakdown) term.name = text, term.length = ns, term.bytes = longest;
  rank.steps = {{longest, text, ns, {{text, widest}, {text + "2", widest}}}};
  for (metrics::KernelRow& row : rank.kernels) row = {text, row.kind, longest, ns, widest};
  for (metrics::CollectiveRow& row : rank.collectives) row = {row.kind, longest, longest, ns, ns, ns, longest, text};
  rank.phases = {{text, longest, ns, ns}};
  for (Finding& finding : rank.findings)
    finding.device = longest, finding.count = longest, finding.advice = text, finding.evidence[text] = text;
  Report report = full_report();
  report.analyzer_version = text;
  report.measurements = {{rank.measurements[0], widest, widest, longest, longest}};
  report.collectives = {{timeline::Collective::allreduce, longest, longest, ns, longest, ns}};
  report.findings = rank.findings;
  report.ranks = {std::move(rank)};
  return report;
}

/// Many of each row that is there, so that no other list's slack hides what one lacks.
void multiply(auto& rows) {
  for (std::size_t own = rows.size(), i = 0; i < 500 * own; ++i) rows.push_back(rows[i % own]);
}

}  // namespace

// Why: a report that is taken for small is stored uncut.
TEST_CASE("json_bytes_at_most: no report is larger, whatever its texts and numbers are") {
  const std::vector<void (*)(Report&)> lists = {
      [](Report&) {},
      [](Report& report) { multiply(report.measurements); },
      [](Report& report) { multiply(report.collectives); },
      [](Report& report) { multiply(report.findings); },
      [](Report& report) { multiply(report.ranks); },
      [](Report& report) { multiply(report.ranks[0].environment.gpus); },
      [](Report& report) { multiply(report.ranks[0].devices); },
      [](Report& report) { multiply(report.ranks[0].measurements); },
      [](Report& report) { multiply(report.ranks[0].breakdown); },
      [](Report& report) { multiply(report.ranks[0].steps); },
      [](Report& report) { multiply(report.ranks[0].kernels); },
      [](Report& report) { multiply(report.ranks[0].collectives); },
      [](Report& report) { multiply(report.ranks[0].phases); },
      [](Report& report) { multiply(report.ranks[0].findings); },
  };
  for (const std::string& text :
       {std::string(), std::string(40, 'k'), std::string(60, '\x1f'), std::string(60, '\xff')})
    for (const auto& grow : lists) {
      Report report = extreme_report(text);
      grow(report);
      CHECK(to_json(report).size() <= json_bytes_at_most(report));
    }
  CHECK(json_bytes_at_most(full_report()) < report_bytes_for(1) / 8);  // or nothing would be saved
}

// Why: what is long must stay, what is cut must be found again under its own cause or kind.
TEST_CASE("cut_lists: longest stay, the rest is added up") {
  RankReport rank = full_rank(0);
  cut_lists(rank, {.kernels = 1, .terms = 2, .collectives = 0, .phases = 0, .steps = 0});
  REQUIRE(rank.kernels.size() == 2);
  CHECK(rank.kernels[1].count == 10);
  REQUIRE(rank.breakdown.size() == 6);
  using findings::TermKind;
  CHECK(rank.breakdown[0].name == "data_loading");
  CHECK(rank.breakdown[1].name == "rest");
  CHECK(rank.breakdown[1].cause == findings::IdleCause::sync);
  CHECK(rank.breakdown[2].cause == findings::IdleCause::launch);
  CHECK(rank.breakdown[3].name == "gemm");
  CHECK(rank.breakdown[4].kind == TermKind::exposed_comm);
  CHECK(rank.breakdown[4].bytes == 0);
  CHECK(rank.breakdown[4].length == Nanos{100});
  REQUIRE(rank.collectives.size() == 1);
  CHECK(rank.collectives[0].count == 7);
  CHECK(rank.collectives[0].max == Nanos{20});
  REQUIRE(rank.phases.size() == 1);
  CHECK(rank.phases[0].name == "rest");
  CHECK(rank.steps.empty());
}

// Why: tables of nsys stats and reports of others hold any count; a sum below 0 would make the report one that nobody
// reads.
TEST_CASE("cut_lists, cut_matched: counts are added up to what 64 bits hold") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  RankReport rank = full_rank(0);
  rank.kernels.clear();
  for (int i = 0; i < 4; ++i) rank.kernels.push_back({"k", timeline::WorkKind::compute, most - i, Nanos{9}, 0});
  rank.phases = {{"a", most, Nanos{1}, Nanos{1}}, {"b", 1, Nanos{1}, Nanos{1}}};
  rank.collectives = {{timeline::Collective::allreduce, 1, most, Nanos{1}, Nanos{1}, Nanos{1}, 2, ""},
                      {timeline::Collective::allreduce, 2, most, Nanos{1}, Nanos{1}, Nanos{1}, 2, ""}};
  cut_lists(rank, {.kernels = 1, .terms = 9, .collectives = 0, .phases = 0, .steps = 9});
  CHECK(rank.kernels.at(1).count == most);
  CHECK(rank.phases.at(0).count == most);
  CHECK(rank.collectives.at(0).count == most);
  std::vector<metrics::MatchedRow> matched(3, {timeline::Collective::allreduce, 8, most, Nanos{1}, most, Nanos{1}});
  cut_matched(matched, 1);
  CHECK(matched.at(1).matched == most);
  CHECK(matched.at(1).calls == most);
}

TEST_CASE("from_json: a report of a version that kept no matched calls") {
  Json document = Json::parse(to_json(full_report()));
  document["run"].erase("collectives");
  const auto report = from_json(document.dump());
  REQUIRE(report.has_value());
  CHECK(report->collectives.empty());
}

TEST_CASE("cut_matched: longest sizes stay, the rest is the row of unknown size") {
  std::vector<metrics::MatchedRow> rows;
  for (std::int64_t i = 1; i <= 5; ++i)
    rows.push_back({timeline::Collective::allreduce, i, 1, Nanos{i}, 2, Nanos{3 * i}});
  rows.push_back({timeline::Collective::allreduce, 0, 1, Nanos{100}, 2, Nanos{200}});
  cut_matched(rows, 5);
  CHECK(rows.size() == 6);
  cut_matched(rows, 2);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].bytes == 5);
  CHECK(rows[1].bytes == 4);
  CHECK(rows[2].bytes == 0);
  CHECK(rows[2].matched == 4);
  CHECK(rows[2].transfer == Nanos{106});
  CHECK(rows[2].calls == 8);
  CHECK(rows[2].total == Nanos{218});
}

}  // namespace traceweir::report::test
