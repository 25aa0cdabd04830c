#include "analyzer/findings/phases.hpp"

#include <algorithm>
#include <array>

#include "analyzer/metrics/rows.hpp"

namespace traceweir::findings {
namespace {

// Source: torch.utils.data.dataloader, `_profile_name`.
constexpr std::string_view pytorch_data_loader = "enumerate(DataLoader)";

constexpr std::array<std::string_view, 6> loading_words = {"data", "load", "fetch", "input", "decode", "augment"};

/// Names that hold one of those words and load nothing: PyTorch opens DistributedDataParallel.forward around each step.
constexpr std::array<std::string_view, 7> not_loading = {"dataparallel", "data_parallel", "data parallel", "workload",
                                                         "overload",     "payload",       "upload"};

constexpr std::uint32_t unseen = no_phase - 1;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool names_data_loading(std::string_view range_name) {
  std::string text(range_name);
  std::transform(text.begin(), text.end(), text.begin(), lower);
  for (const std::string_view other : not_loading)
    for (std::size_t at = text.find(other); at != std::string::npos; at = text.find(other))
      text.erase(at, other.size());
  return std::any_of(loading_words.begin(), loading_words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

Phases::Phases(const metrics::RankView& view)
    : timeline_(*view.timeline),
      phase_by_range_name_(timeline_.names.size(), unseen),
      loading_by_range_name_(timeline_.names.size(), Loading::unseen) {
  std::vector<Interval> hosts;
  for (const metrics::Step& step : view.steps) {
    step_ranges_.emplace(step.thread, step.host.begin, step.host.end, step.name);
    hosts.push_back(step.host);
  }
  steps_ = timeline::IntervalSet::union_of(std::move(hosts));
}

bool Phases::is_phase(const timeline::Range& range) const {
  if (range.kind != timeline::RangeKind::user) return false;
  if (step_ranges_.empty()) return true;
  if (step_ranges_.count({range.thread, range.begin, range.end, range.name}) != 0) return false;
  // The first stretch of steps that ends after the range begins: it has begun by then, or begins after the range's end.
  const auto parts = steps_.parts();
  const auto part =
      std::partition_point(parts.begin(), parts.end(), [&](const Interval& p) { return p.end <= range.begin; });
  return part == parts.end() || part->begin <= range.begin || part->begin >= range.end;
}

std::uint32_t Phases::phase_of(const timeline::Range& range) {
  if (!is_phase(range)) return no_phase;
  std::uint32_t& phase = phase_by_range_name_[static_cast<std::size_t>(range.name)];
  if (phase != unseen) return phase;
  const auto next = static_cast<std::uint32_t>(names_.size());
  const auto [entry, added] = ids_.try_emplace(metrics::phase_name(timeline_.name(range.name)), next);
  if (added) names_.push_back(entry->first);
  return phase = entry->second;
}

bool Phases::is_data_loading(const timeline::Range& range) {
  const Loading loading = loading_of(range.name);
  return loading == Loading::always || (loading == Loading::in_a_phase && is_phase(range));
}

Phases::Loading Phases::loading_of(timeline::NameId range_name) {
  Loading& loading = loading_by_range_name_[static_cast<std::size_t>(range_name)];
  if (loading != Loading::unseen) return loading;
  const std::string_view name = timeline_.name(range_name);
  if (name.starts_with(pytorch_data_loader)) return loading = Loading::always;
  return loading = names_data_loading(name) ? Loading::in_a_phase : Loading::no;
}

const std::string& Phases::name(std::uint32_t phase) const {
  static const std::string nothing;
  return phase == no_phase ? nothing : names_[phase];
}

}  // namespace traceweir::findings
