#include "analyzer/findings/phases.hpp"

#include <algorithm>
#include <array>

#include "analyzer/core/ascii.hpp"
#include "analyzer/metrics/rows.hpp"

namespace traceweir::findings {
namespace {

// Source: torch.utils.data.dataloader, `_profile_name`.
constexpr std::string_view pytorch_data_loader = "enumerate(DataLoader)";

constexpr std::array<std::string_view, 6> loading_words = {"data", "load", "fetch", "input", "decode", "augment"};

/// Names that hold one of those words and load nothing: PyTorch opens DistributedDataParallel.forward around each step.
constexpr std::array<std::string_view, 7> not_loading = {"dataparallel", "data_parallel", "data parallel", "workload",
                                                         "overload",     "payload",       "upload"};

/// The first letters of loading_words, in lower and upper case.
constexpr std::array<bool, 256> begins_loading_word = [] {
  std::array<bool, 256> out{};
  for (const std::string_view word : loading_words) {
    out[static_cast<unsigned char>(word.front())] = true;
    out[static_cast<unsigned char>(word.front() - 'a' + 'A')] = true;
  }
  return out;
}();

bool holds_loading_word(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_loading_word[static_cast<unsigned char>(text[at])]) continue;
    for (const std::string_view word : loading_words) {
      std::size_t same = 0;
      while (same < word.size() && at + same < text.size() && lower(text[at + same]) == word[same]) ++same;
      if (same == word.size()) return true;
    }
  }
  return false;
}

}  // namespace

bool names_data_loading(std::string_view range_name) {
  // Nearly all names. Those that load nothing for another reason hold such a word, too.
  if (!holds_loading_word(range_name)) return false;
  std::string text = lower_case(range_name);
  for (const std::string_view other : not_loading)
    for (std::size_t at = text.find(other); at != std::string::npos; at = text.find(other))
      text.erase(at, other.size());
  return holds_loading_word(text);
}

Phases::Phases(const metrics::RankView& view)
    : timeline_(*view.timeline),
      step_ranges_(timeline_, view.steps),
      names_(view.phase_names),
      loading_by_form_(timeline_.names.size(), Loading::no) {
  std::vector<Interval> hosts;
  for (const metrics::Step& step : view.steps) hosts.push_back(step.host);
  steps_ = timeline::IntervalSet::union_of(std::move(hosts));
  read_names();
}

void Phases::read_names() {
  // What a name has besides digits, its phase has, too.
  std::vector<bool> may_load;
  for (const std::string& phase : names_.texts) may_load.push_back(holds_loading_word(phase));
  for (std::size_t form = 0; form < names_.by_form.size(); ++form) {
    const std::uint32_t phase = names_.by_form[form];
    if (phase != no_phase && may_load[phase]) loading_by_form_[form] = loading_of(timeline_.names[form]);
  }
}

bool Phases::is_phase(const timeline::Range& range) const {
  if (range.kind != timeline::RangeKind::user) return false;
  if (step_ranges_.empty()) return true;
  if (step_ranges_.has(range)) return false;
  // The first stretch of steps that ends after the range begins: it has begun by then, or begins after the range's end.
  const auto parts = steps_.parts();
  const auto part =
      std::partition_point(parts.begin(), parts.end(), [&](const Interval& p) { return p.end <= range.begin; });
  return part == parts.end() || part->begin <= range.begin || part->begin >= range.end;
}

std::uint32_t Phases::phase_of(const timeline::Range& range) const {
  return is_phase(range) ? names_.by_form[static_cast<std::size_t>(range.name.form)] : no_phase;
}

bool Phases::is_data_loading(const timeline::Range& range) const {
  const Loading loading = loading_by_form_[static_cast<std::size_t>(range.name.form)];
  return loading == Loading::always || (loading == Loading::in_a_phase && is_phase(range));
}

Phases::Loading Phases::loading_of(std::string_view range_name) {
  if (range_name.starts_with(pytorch_data_loader)) return Loading::always;
  return names_data_loading(range_name) ? Loading::in_a_phase : Loading::no;
}

const std::string& Phases::name(std::uint32_t phase) const {
  static const std::string nothing;
  return phase == no_phase ? nothing : names_.texts[phase];
}

}  // namespace traceweir::findings
