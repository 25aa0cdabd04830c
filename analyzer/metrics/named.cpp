#include "analyzer/metrics/named.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analyzer/core/ascii.hpp"
#include "analyzer/metrics/metric_table.hpp"
#include "analyzer/metrics/rows.hpp"
#include "analyzer/metrics/statistics.hpp"

namespace traceweir::metrics {
namespace {

/// A family: its members' ids begin and end like this.
struct Family {
  std::string_view prefix, suffix;
  Unit unit;
  Better better;
  std::string_view meaning;
};
constexpr Family phase_family{"phase.", ".share", Unit::ratio, Better::lower,
                              "host time of the phase NAME inside steps / host time of the steps"};
constexpr Family counter_family{"gpu_metrics.", "", Unit::count, Better::none,
                                "mean of the sampled hardware counter NAME in the window, in the unit of its name"};
constexpr std::string_view rest_of_phases = "rest";
constexpr Family all_families[] = {phase_family, counter_family};

std::string id_of(const Family& family, std::string_view name) {
  return std::string(family.prefix) + std::string(name) + std::string(family.suffix);
}

MetricInfo info_of(const Family& family, std::string id) {
  return {std::move(id), family.unit, family.better, std::string(family.meaning)};
}

Measurement member(const Family& family, std::string_view name, double value) {
  return measurement_of(info_of(family, id_of(family, name)), value);
}

bool is_member(const Family& family, std::string_view id) {
  return id.size() > family.prefix.size() + family.suffix.size() && id.starts_with(family.prefix) &&
         id.ends_with(family.suffix);
}

bool is_named(std::string_view id) {
  return std::any_of(std::begin(all_families), std::end(all_families),
                     [id](const Family& family) { return is_member(family, id); });
}

/// Host time of the kept steps. Steps of several threads that overlap count once, as the phases' cut does.
Nanos host_time_of_steps(const RankView& view) {
  std::vector<Interval> hosts;
  for (const Step& step : view.steps)
    if (step.kept) hosts.push_back(step.host);
  return timeline::IntervalSet::union_of(std::move(hosts)).total();
}

/// The mean of the samples in the window; nothing where there is none.
std::optional<double> mean_in(Interval window, const std::vector<timeline::CounterSample>& samples) {
  const auto before = [](const timeline::CounterSample& sample, Nanos t) { return sample.at < t; };
  const auto first = std::lower_bound(samples.begin(), samples.end(), window.begin, before);
  const auto last = std::lower_bound(first, samples.end(), window.end, before);
  if (first == last) return std::nullopt;
  double mean = 0, count = 0;
  for (auto sample = first; sample != last; ++sample) mean += (sample->value - mean) / ++count;
  return mean;
}

char id_character(char c) {
  const char small = lower(c);
  const bool stays = (small >= 'a' && small <= 'z') || is_digit(c) || c == '.' || c == '-';
  return stays ? small : '_';
}

using RankValue = std::pair<double, std::int64_t>;  ///< value, rank

RunMeasurement run_member(const Measurement& like, std::vector<RankValue> values, std::span<const RankShare> ranks) {
  RunMeasurement out{like, 0, 0, ranks.front().rank, ranks.front().rank};
  out.mean.value.reset();
  if (values.size() < ranks.size()) {
    out.mean.not_measured = NotMeasured::no_such_table;
    return out;
  }
  double mean = 0, count = 0;
  for (const auto& [value, rank] : values) mean += (value - mean) / ++count;
  out.mean.value = mean;
  const auto less = [](const RankValue& a, const RankValue& b) { return a.first < b.first; };
  const auto [low, high] = std::minmax_element(values.begin(), values.end(), less);
  std::tie(out.min, out.min_rank) = *low;
  std::tie(out.max, out.max_rank) = *high;
  return out;
}

}  // namespace

std::string name_part(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const std::string_view piece = c == '%' ? std::string_view("percent") : std::string_view();
    const char plain = id_character(c);
    const bool joins = piece.empty() && plain == '_' && (name.empty() || name.back() == '_');
    if (joins) continue;
    name += piece.empty() ? std::string(1, plain) : std::string(piece);
    if (name.size() >= name_part_bytes_max) break;
  }
  name.resize(std::min(name.size(), name_part_bytes_max));
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() ? "unnamed" : name;
}

std::vector<Measurement> phase_shares(const RankView& view, std::span<const PhaseRow> phases) {
  const Nanos whole = host_time_of_steps(view);
  if (whole <= Nanos{0}) return {};
  std::vector<std::pair<std::string, Sum>> sums;  // in the order of the rows: by host time
  const auto find = [&sums](std::string_view name) {
    return std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == name; });
  };
  for (const PhaseRow& phase : phases) {
    std::string name = name_part(phase.name);
    if (sums.size() >= named_phases_max && find(name) == sums.end()) name = rest_of_phases;
    auto sum = find(name);
    if (sum == sums.end()) sum = sums.insert(sum, {name, Sum{}});
    sum->second.add(phase.host.count());
  }
  std::vector<Measurement> shares;
  for (const auto& [name, sum] : sums)
    shares.push_back(member(phase_family, name, sum.as_double() / static_cast<double>(whole.count())));
  return shares;
}

std::vector<Measurement> counter_means(const RankView& view) {
  if (!view.window) return {};
  struct Mean {
    double sum = 0;
    double devices = 0;
  };
  std::map<std::string, Mean> means;
  for (const timeline::Counter& counter : view.timeline->counters) {
    const auto mean = mean_in(view.window->span, counter.samples);
    const bool measured = std::any_of(view.devices.begin(), view.devices.end(),
                                      [&](const DeviceView& device) { return device.device == counter.device; });
    if (!mean || !measured) continue;
    const std::string name = name_part(counter.name);
    if (means.size() == named_counters_max && means.count(name) == 0) continue;
    Mean& of_counter = means[name];
    of_counter.sum += *mean;
    ++of_counter.devices;
  }
  std::vector<Measurement> measurements;
  for (const auto& [name, mean] : means) measurements.push_back(member(counter_family, name, mean.sum / mean.devices));
  return measurements;
}

std::vector<RunMeasurement> named_of_run(std::span<const RankShare> ranks) {
  struct Member {
    const Measurement* like;
    std::vector<RankValue> values;
  };
  std::map<std::string_view, Member> members;
  for (const RankShare& rank : ranks)
    for (const Measurement& measurement : rank.measurements) {
      if (!measurement.value || !is_named(measurement.metric)) continue;
      Member& one = members.try_emplace(measurement.metric, Member{&measurement, {}}).first->second;
      one.values.emplace_back(as_double(*measurement.value), rank.rank);
    }
  std::vector<std::pair<std::size_t, std::string_view>> by_ranks;
  for (const auto& [id, one] : members) by_ranks.emplace_back(ranks.size() - one.values.size(), id);
  std::sort(by_ranks.begin(), by_ranks.end());
  by_ranks.resize(std::min(by_ranks.size(), named_of_run_max));
  std::sort(by_ranks.begin(), by_ranks.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<RunMeasurement> run;
  for (const auto& [missing, id] : by_ranks) {
    Member& one = members.at(id);
    run.push_back(run_member(*one.like, std::move(one.values), ranks));
  }
  return run;
}

std::span<const MetricInfo> families() {
  static const std::vector<MetricInfo> rows = [] {
    std::vector<MetricInfo> list;
    for (const Family& family : all_families) list.push_back(info_of(family, id_of(family, "NAME")));
    return list;
  }();
  return rows;
}

std::optional<MetricInfo> family_member(std::string_view id) {
  for (const Family& family : all_families)
    if (is_member(family, id)) return info_of(family, std::string(id));
  return std::nullopt;
}

}  // namespace traceweir::metrics
