#include "server/wire/judge_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "gate/finding_rule.hpp"
#include "server/wire/json.hpp"

namespace traceweir::wire {
namespace {

using Points = std::vector<gate::BaselinePoint>;
using Series = std::map<std::string, Points>;
using BaselinePlace = gate::Baseline::Place;

// ---- numbers: JSON has none that are not finite

Json number_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::optional<double> number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

tl::unexpected<Error> refused(const char* key) {
  return fail(ErrorCode::bad_body, std::string(key) + ": not as it is stored");
}

bool is_list(const Json* json) { return json != nullptr && json->is_array(); }

std::string text_at(const Json& row, std::size_t index) {
  return row.is_array() && index < row.size() && row[index].is_string() ? row[index].get<std::string>() : std::string();
}

// ---- series: runs are named once, and a series is its values with their places in that table

/// The distinct runs of a baseline, in the order in which they are met.
class RunTable {
 public:
  std::size_t place_of(const std::string& run, const std::string& commit) {
    const auto [it, added] = places_.try_emplace({run, commit}, rows_.size());
    if (added) rows_.push_back(Json::array({run, commit}));
    return it->second;
  }
  [[nodiscard]] Json rows() const { return rows_; }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
  Json rows_ = Json::array();
};

/// Segments come in stretches: [segment, points] of each.
Json segments_json(const Points& points) {
  Json stretches = Json::array();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool same = i > 0 && points[i].segment == points[i - 1].segment;
    if (same)
      stretches.back()[1] = stretches.back()[1].get<std::int64_t>() + 1;
    else
      stretches.push_back(Json::array({points[i].segment, 1}));
  }
  return stretches;
}

Json series_json(const Series& series, RunTable& table) {
  Json json = Json::object();
  for (const auto& [metric, points] : series) {
    Json runs = Json::array(), values = Json::array();
    for (const gate::BaselinePoint& point : points) {
      runs.push_back(table.place_of(point.run, point.commit));
      values.push_back(number_json(point.value));
    }
    json[metric] = {{"runs", std::move(runs)}, {"values", std::move(values)}, {"segments", segments_json(points)}};
  }
  return json;
}

/// The segment of every point; empty where the stretches are not those of `count` points.
std::vector<std::int64_t> segments_of(const Json& json, std::size_t count) {
  std::vector<std::int64_t> segments;
  for (const Json& stretch : json) {
    const bool whole =
        stretch.is_array() && stretch.size() == 2 && stretch[0].is_number_integer() && stretch[1].is_number_integer();
    const std::int64_t length = whole ? stretch[1].get<std::int64_t>() : -1;
    if (length < 0 || static_cast<std::uint64_t>(length) > count - segments.size()) return {};
    segments.insert(segments.end(), static_cast<std::size_t>(length), stretch[0].get<std::int64_t>());
  }
  return segments.size() == count ? segments : std::vector<std::int64_t>{};
}

Result<Points> points_of(const Json& json, const Json& table) {
  ObjectReader in(json);
  const Json *runs = in.child("runs"), *values = in.child("values"), *stretches = in.child("segments");
  const bool whole = is_list(runs) && is_list(values) && is_list(stretches) && runs->size() == values->size();
  if (!whole) return refused("series");
  const std::vector<std::int64_t> segments = segments_of(*stretches, values->size());
  if (segments.size() != values->size()) return refused("segments");
  Points points;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const Json& place = (*runs)[i];
    const auto value = number_of((*values)[i]);
    if (!value || !place.is_number_unsigned() || place.get<std::size_t>() >= table.size()) return refused("series");
    const Json& row = table[place.get<std::size_t>()];
    points.push_back({text_at(row, 0), text_at(row, 1), *value, segments[i]});
  }
  return points;
}

Result<Series> series_of(const Json* json, const Json& table) {
  Series series;
  if (json == nullptr || !json->is_object()) return refused("series");
  for (const auto& [metric, item] : json->items()) {
    TRACEWEIR_TRY(points, points_of(item, table));
    series[metric] = std::move(points);
  }
  return series;
}

// ---- the commit's runs

Json measurement_json(const metrics::Measurement& row) {
  Json value = nullptr;
  if (row.value) value = std::visit([](auto number) { return Json(number); }, *row.value);
  if (row.value && value.is_number_float()) value = number_json(as_double(*row.value));
  Json json = Json::array({row.metric, std::move(value), word(row.unit), word(row.better)});
  if (row.not_measured) json.push_back(word(*row.not_measured));
  return json;
}

Result<metrics::Measurement> measurement_of(const Json& json) {
  const auto unit = unit_of(text_at(json, 2));
  const auto better = better_of(text_at(json, 3));
  if (!unit || !better) return refused("measurements");
  metrics::Measurement row{text_at(json, 0), std::nullopt, *unit, *better, not_measured_of(text_at(json, 4))};
  if (json[1].is_null()) return row;
  const auto value = number_of(json[1]);
  if (!value) return refused("measurements");
  row.value = json[1].is_number_integer() ? Number(json[1].get<std::int64_t>()) : Number(*value);
  return row;
}

Json run_json(const gate::JudgedRun& run) {
  Json measurements = Json::array(), findings = Json::array();
  for (const metrics::Measurement& row : run.measurements) measurements.push_back(measurement_json(row));
  for (const Finding& finding : run.findings)
    findings.push_back(Json::array({word(finding.code), word(finding.severity), finding.count, finding.advice}));
  return {{"id", run.id},
          {"expected", run.ranks_expected},
          {"present", run.ranks_present},
          {"measurements", std::move(measurements)},
          {"findings", std::move(findings)}};
}

Result<Finding> finding_of(const Json& json) {
  const auto code = finding_code_of(text_at(json, 0));
  const auto severity = severity_of(text_at(json, 1));
  if (!code || !severity || json.size() != 4 || !json[2].is_number_integer()) return refused("findings");
  return Finding{*code, *severity, std::nullopt, json[2].get<std::int64_t>(), {}, text_at(json, 3)};
}

Result<gate::JudgedRun> run_in(const Json& json) {
  ObjectReader in(json);
  gate::JudgedRun run;
  run.id = in.text("id");
  run.ranks_expected = in.integer("expected");
  run.ranks_present = in.integer("present");
  const Json *measurements = in.child("measurements"), *findings = in.child("findings");
  if (in.error() || !is_list(measurements) || !is_list(findings)) return refused("runs");
  for (const Json& item : *measurements) {
    TRACEWEIR_TRY(row, measurement_of(item));
    run.measurements.push_back(std::move(row));
  }
  for (const Json& item : *findings) {
    TRACEWEIR_TRY(finding, finding_of(item));
    run.findings.push_back(std::move(finding));
  }
  return run;
}

// ---- the baseline

using Accepted = std::map<std::string, gate::Acceptance>;

Json accepted_json(const Accepted& accepted) {
  Json json = Json::object();
  for (const auto& [metric, row] : accepted)
    json[metric] = Json::array({row.run, row.commit, number_json(row.value), row.author, row.reason, row.until});
  return json;
}

Result<Accepted> accepted_of(const Json* json) {
  Accepted accepted;
  if (json == nullptr || !json->is_object()) return refused("accepted");
  for (const auto& [metric, row] : json->items()) {
    const auto value = row.is_array() && row.size() == 6 ? number_of(row[2]) : std::nullopt;
    if (!value) return refused("accepted");
    accepted[metric] = {text_at(row, 0), text_at(row, 1), *value, text_at(row, 3), text_at(row, 4), text_at(row, 5)};
  }
  return accepted;
}

using Kinds = std::map<std::string, gate::ValueKind>;

Json kinds_json(const Kinds& kinds) {
  Json json = Json::object();
  for (const auto& [metric, kind] : kinds) json[metric] = Json::array({word(kind.unit), word(kind.better)});
  return json;
}

/// Without any where the verdict was kept before there were kinds.
Result<Kinds> kinds_of(const Json* json) {
  Kinds kinds;
  if (json == nullptr) return kinds;
  if (!json->is_object()) return refused("kinds");
  for (const auto& [metric, row] : json->items()) {
    const auto unit = unit_of(text_at(row, 0));
    const auto better = better_of(text_at(row, 1));
    if (!unit || !better) return refused("kinds");
    kinds[metric] = {*unit, *better};
  }
  return kinds;
}

Json baseline_json(const gate::Baseline& baseline) {
  RunTable table;
  Json series = series_json(baseline.series, table);
  Json pinned = nullptr;
  if (const auto& pin = baseline.pinned)
    pinned = {
        {"name", pin->name}, {"series", series_json(pin->series, table)}, {"accepted", accepted_json(pin->accepted)}};
  return {{"branch", baseline.branch},
          {"elsewhere", baseline.place == BaselinePlace::elsewhere},
          {"ancestry", baseline.ancestry},
          {"other_class_runs", baseline.other_class_runs},
          {"notes", baseline.notes},
          {"runs", baseline.runs},
          {"table", table.rows()},
          {"series", std::move(series)},
          {"pinned", std::move(pinned)},
          {"accepted", accepted_json(baseline.accepted)},
          {"kinds", kinds_json(baseline.kinds)}};
}

Result<gate::PinnedBaseline> pinned_of(const Json& json, const Json& table) {
  ObjectReader in(json);
  gate::PinnedBaseline pinned;
  pinned.name = in.text("name");
  TRACEWEIR_TRY(series, series_of(in.child("series"), table));
  TRACEWEIR_TRY(accepted, accepted_of(in.child("accepted")));
  pinned.series = std::move(series);
  pinned.accepted = std::move(accepted);
  if (in.error()) return tl::unexpected(*in.error());
  return pinned;
}

Result<gate::Baseline> baseline_of(const Json& json) {
  ObjectReader in(json);
  gate::Baseline baseline;
  baseline.branch = in.text("branch");
  baseline.place = in.boolean("elsewhere") ? BaselinePlace::elsewhere : BaselinePlace::baseline_branch;
  baseline.ancestry = in.text("ancestry");
  baseline.other_class_runs = in.integer("other_class_runs");
  baseline.notes = texts_of(in.child("notes"));
  baseline.runs = texts_of(in.child("runs"));
  const Json* table = in.child("table");
  if (in.error() || !is_list(table)) return refused("baseline");
  TRACEWEIR_TRY(series, series_of(in.child("series"), *table));
  TRACEWEIR_TRY(accepted, accepted_of(in.child("accepted")));
  TRACEWEIR_TRY(kinds, kinds_of(in.child("kinds")));
  baseline.kinds = std::move(kinds);
  baseline.series = std::move(series);
  baseline.accepted = std::move(accepted);
  if (const Json* pinned = in.child("pinned")) {
    TRACEWEIR_TRY(read, pinned_of(*pinned, *table));
    baseline.pinned = std::move(read);
  }
  return baseline;
}

// ---- what a policy looks at

/// Metrics that a rule is about, or a rule on findings needs, in any run of the commit.
std::set<std::string> metrics_of(const gate::Policy& policy, const gate::JudgedRun& answered,
                                 const gate::Baseline& baseline) {
  std::vector<std::string> measured;
  for (const metrics::Measurement& row : answered.measurements) measured.push_back(row.metric);
  for (const auto& [metric, points] : baseline.series) measured.push_back(metric);
  std::set<std::string> wanted;
  for (const gate::Rule& rule : gate::rules_for(policy, measured)) wanted.insert(rule.metric);
  if (policy.findings.empty()) return wanted;
  for (const std::string_view metric : gate::finding_evidence()) wanted.emplace(metric);
  return wanted;
}

bool is_needed(const Finding& finding, const gate::Policy& policy) {
  const auto is_rule = [&](const gate::FindingRule& rule) { return rule.code == finding.code; };
  return finding.severity == Severity::data_loss ||
         std::any_of(policy.findings.begin(), policy.findings.end(), is_rule);
}

template <typename Map>
void keep(Map& rows, const std::set<std::string>& wanted) {
  std::erase_if(rows, [&](const auto& row) { return !wanted.contains(row.first); });
}

}  // namespace

JudgeInputs needed_by(const gate::Policy& policy, JudgeInputs inputs) {
  const std::set<std::string> wanted = metrics_of(policy, inputs.runs.back(), inputs.baseline);
  for (gate::JudgedRun& run : inputs.runs) {
    std::erase_if(run.measurements, [&](const auto& row) { return !wanted.contains(row.metric); });
    std::erase_if(run.findings, [&](const Finding& finding) { return !is_needed(finding, policy); });
  }
  keep(inputs.baseline.series, wanted);
  keep(inputs.baseline.accepted, wanted);
  keep(inputs.baseline.kinds, wanted);
  if (auto& pinned = inputs.baseline.pinned) keep(pinned->series, wanted), keep(pinned->accepted, wanted);
  return inputs;
}

std::string to_json(const JudgeInputs& inputs) {
  Json runs = Json::array();
  for (const gate::JudgedRun& run : inputs.runs) runs.push_back(run_json(run));
  return dump({{"build", inputs.build},
               {"analyzer", {{"version", inputs.analyzer}, {"classifier", inputs.classifier}}},
               {"runs", std::move(runs)},
               {"baseline", baseline_json(inputs.baseline)},
               {"notes", inputs.notes}});
}

Result<JudgeInputs> inputs_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  JudgeInputs inputs;
  inputs.build = in.text("build");
  const Json *analyzer = in.child("analyzer"), *runs = in.child("runs"), *baseline = in.child("baseline");
  if (in.error() || !analyzer || !baseline || !is_list(runs) || runs->empty()) return refused("inputs");
  ObjectReader measured_by(*analyzer);
  inputs.analyzer = measured_by.text("version");
  inputs.classifier = measured_by.integer("classifier");
  if (measured_by.error()) return tl::unexpected(*measured_by.error());
  for (const Json& item : *runs) {
    TRACEWEIR_TRY(run, run_in(item));
    inputs.runs.push_back(std::move(run));
  }
  TRACEWEIR_TRY(read, baseline_of(*baseline));
  inputs.baseline = std::move(read);
  inputs.notes = texts_of(in.child("notes"));
  return inputs;
}

std::string stored_verdict(std::string_view document, std::string_view inputs) {
  return std::string(document).append("\n").append(inputs);
}

std::string_view document_in(std::string_view stored) { return stored.substr(0, stored.find('\n')); }

std::string_view inputs_in(std::string_view stored) {
  const std::size_t end = stored.find('\n');
  return end == std::string_view::npos ? std::string_view() : stored.substr(end + 1);
}

}  // namespace traceweir::wire
