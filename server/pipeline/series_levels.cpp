#include "server/pipeline/series_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "gate/change_points.hpp"
#include "gate/segments.hpp"
#include "gate/statistics.hpp"
#include "gate/units.hpp"

namespace traceweir::pipeline {
namespace {

/// An acceptance of the metric, by the first point of its level.
struct AcceptedPoint {
  std::size_t index;
  const store::Acceptance* acceptance;
};

/// One metric of a series, as points without gaps.
class Analysis {
 public:
  explicit Analysis(const SeriesQuestion& question) : q_(question) {
    const auto values = q_.series.values.find(q_.metric);
    if (values == q_.series.values.end()) return;
    for (std::size_t i = 0; i < q_.series.runs.size(); ++i) {
      const std::optional<double>& value = values->second[i];
      point_of_run_.push_back(values_.size());
      if (!value || !std::isfinite(*value) || std::abs(*value) > 1e150) continue;
      values_.push_back(*value);
      runs_.push_back(&q_.series.runs[i]);
      counts_.push_back(q_.series.runs[i].counts ? 1 : 0);
    }
    changes_ = gate::change_points(values_);
    place_acceptances();
  }

  SeriesAnswer answer() {
    SeriesAnswer out;
    for (std::size_t i = 0; i < changes_.size(); ++i) out.changes.push_back(stored(i));
    out.segments = segments();
    out.drifts = news(out.changes);
    return out;
  }

 private:
  void place_acceptances() {
    for (const store::Acceptance& acceptance : q_.acceptances) {
      if (!acceptance.values.contains(q_.metric)) continue;
      const auto place = place_in(q_.series.runs, acceptance);
      if (place && point_of_run_[*place] < values_.size()) accepted_.push_back({point_of_run_[*place], &acceptance});
    }
    std::stable_sort(accepted_.begin(), accepted_.end(),
                     [](const AcceptedPoint& a, const AcceptedPoint& b) { return a.index < b.index; });
  }

  [[nodiscard]] std::optional<bool> is_better(const gate::ChangePoint& change) const {
    if (q_.side == Better::none) return std::nullopt;
    return q_.side == Better::lower ? change.after < change.before : change.after > change.before;
  }

  /// The acceptance of a level: of any of its runs, or of the run before, where the change was placed one run late.
  [[nodiscard]] std::string accepted_by(std::size_t number) const {
    const std::size_t begin = changes_[number].index;
    const std::size_t end = number + 1 < changes_.size() ? changes_[number + 1].index : values_.size();
    for (auto point = accepted_.rbegin(); point != accepted_.rend(); ++point)
      if (point->index + 1 >= begin && point->index < end) return point->acceptance->id;
    return {};
  }

  [[nodiscard]] store::StoredChange stored(std::size_t number) const {
    const gate::ChangePoint& change = changes_[number];
    store::StoredChange out;
    out.run = runs_[change.index]->run;
    out.commit = runs_[change.index]->commit;
    out.previous_run = runs_[change.index - 1]->run;
    out.previous_commit = runs_[change.index - 1]->commit;
    out.before = change.before;
    out.after = change.after;
    out.magnitude = change.magnitude;
    out.p = change.p;
    out.better = is_better(change);
    if (out.better == false) out.acceptance = accepted_by(number);
    out.accepted = !out.acceptance.empty();
    return out;
  }

  /// The first point of the policy's epoch; nothing where all, or none, are of it.
  [[nodiscard]] std::optional<std::size_t> epoch_start() const {
    if (!q_.epoch) return std::nullopt;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (runs_[i]->committed_at.value_or(runs_[i]->received_at) >= *q_.epoch)
        return i > 0 ? std::optional(i) : std::nullopt;
    return std::nullopt;
  }

  [[nodiscard]] std::vector<store::StoredSegment> segments() const {
    if (values_.empty()) return {};
    std::vector<std::size_t> accepted;
    for (const AcceptedPoint& point : accepted_) accepted.push_back(point.index);
    std::vector<std::size_t> starts = gate::segment_starts({changes_, counts_, accepted, q_.side, q_.min_runs});
    const auto epoch = epoch_start();
    if (epoch) starts.push_back(*epoch);
    starts.push_back(0);
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    std::vector<store::StoredSegment> segments;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : values_.size();
      if (auto segment = segment_of(starts[i], end, epoch)) segments.push_back(*std::move(segment));
    }
    return segments;
  }

  /// Nothing where no run of it counts.
  [[nodiscard]] std::optional<store::StoredSegment> segment_of(std::size_t begin, std::size_t end,
                                                               std::optional<std::size_t> epoch) const {
    std::vector<double> values;
    store::StoredSegment segment;
    for (std::size_t i = begin; i < end; ++i) {
      if (counts_[i] == 0) continue;
      if (values.empty()) segment.first_run = runs_[i]->run, segment.first_commit = runs_[i]->commit;
      segment.last_run = runs_[i]->run, segment.last_commit = runs_[i]->commit;
      values.push_back(values_[i]);
    }
    if (values.empty()) return std::nullopt;
    segment.runs = std::ssize(values);
    segment.level = gate::mean(values);
    segment.noise = values.size() < 2 ? 0 : std::sqrt(gate::variance_about(values, segment.level));
    segment.began = began_at(begin, epoch);
    return segment;
  }

  [[nodiscard]] store::Began began_at(std::size_t index, std::optional<std::size_t> epoch) const {
    const auto is_here = [index](const AcceptedPoint& point) { return point.index == index; };
    if (std::any_of(accepted_.begin(), accepted_.end(), is_here)) return store::Began::acceptance;
    if (epoch == index) return store::Began::epoch;
    return index == 0 ? store::Began::first : store::Began::improvement;
  }

  /// From the newest back, until a change to the better: what was before is over.
  [[nodiscard]] std::vector<store::StoredChange> news(const std::vector<store::StoredChange>& changes) const {
    const std::vector<std::size_t> told = told_points();
    std::vector<store::StoredChange> news;
    for (std::size_t i = changes.size(); i-- > 0;) {
      if (changes[i].better != false || changes_[i].index + recent_runs < values_.size()) break;
      const std::size_t index = changes_[i].index;
      const bool known = std::any_of(told.begin(), told.end(), [index](std::size_t other) {
        return std::max(index, other) - std::min(index, other) <= same_change_runs;
      });
      if (!known && changes[i].acceptance.empty()) news.push_back(changes[i]);
    }
    std::reverse(news.begin(), news.end());
    return news;
  }

  [[nodiscard]] std::vector<std::size_t> told_points() const {
    const auto told = q_.series.told.find(q_.metric);
    if (told == q_.series.told.end()) return {};
    const std::set<std::string_view> ids(told->second.begin(), told->second.end());
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (ids.contains(runs_[i]->run)) points.push_back(i);
    return points;
  }

  const SeriesQuestion& q_;
  std::vector<double> values_;
  std::vector<const store::SeriesRun*> runs_;  ///< of each value
  std::vector<char> counts_;                   ///< of each value: whether it is in the baseline
  std::vector<std::size_t> point_of_run_;      ///< of each run: its point, or the next run's that has one
  std::vector<gate::ChangePoint> changes_;
  std::vector<AcceptedPoint> accepted_;
};

}  // namespace

SeriesAnswer levels_of(const SeriesQuestion& question) { return Analysis(question).answer(); }

std::optional<std::size_t> place_in(const std::vector<store::SeriesRun>& runs, const store::Acceptance& acceptance) {
  const auto index_where = [&runs](const auto& matches) -> std::optional<std::size_t> {
    const auto found = std::find_if(runs.begin(), runs.end(), matches);
    return found == runs.end() ? std::nullopt : std::optional<std::size_t>(found - runs.begin());
  };
  if (auto own = index_where([&](const store::SeriesRun& run) { return run.run == acceptance.run; })) return own;
  if (auto commit = index_where([&](const store::SeriesRun& run) { return run.commit == acceptance.commit; }))
    return commit;
  return index_where([&](const store::SeriesRun& run) {
    return std::find(acceptance.children.begin(), acceptance.children.end(), run.commit) != acceptance.children.end();
  });
}

std::string drift_sentence(const std::string& metric, Unit unit, const store::StoredChange& change) {
  std::string by = gate::human_delta(change.after - change.before, change.before, unit);
  if (by.starts_with('+') || by.starts_with('-')) by.erase(0, 1);
  return fmt::format("drift: {} {} {} between {} and {}", metric, change.after > change.before ? "rose" : "fell", by,
                     change.previous_commit.substr(0, 12), change.commit.substr(0, 12));
}

}  // namespace traceweir::pipeline
