#include "analyzer/timeline/interval_set.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace traceweir::timeline {
namespace {

bool begins_earlier(const Interval& a, const Interval& b) { return a.begin < b.begin; }

/// Appends `part`, which begins no earlier than the last one, and merges it where they overlap or touch.
void append(std::vector<Interval>& parts, const Interval& part) {
  if (part.empty()) return;
  if (!parts.empty() && part.begin <= parts.back().end)
    parts.back().end = std::max(parts.back().end, part.end);
  else
    parts.push_back(part);
}

}  // namespace

IntervalSet IntervalSet::union_of(std::vector<Interval> spans) {
  if (!std::is_sorted(spans.begin(), spans.end(), begins_earlier))
    std::sort(spans.begin(), spans.end(), begins_earlier);
  // Merged in place: what is kept never overtakes what is read.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Interval span = spans[i];
    if (span.empty()) continue;
    if (kept > 0 && span.begin <= spans[kept - 1].end)
      spans[kept - 1].end = std::max(spans[kept - 1].end, span.end);
    else
      spans[kept++] = span;
  }
  spans.resize(kept);
  IntervalSet set;
  set.parts_ = std::move(spans);
  return set;
}

IntervalSet IntervalSet::clipped_to(Interval window) const {
  IntervalSet out;
  if (window.empty()) return out;
  auto part =
      std::partition_point(parts_.begin(), parts_.end(), [&](const Interval& p) { return p.end <= window.begin; });
  for (; part != parts_.end() && part->begin < window.end; ++part)
    out.parts_.push_back({std::max(part->begin, window.begin), std::min(part->end, window.end)});
  return out;
}

IntervalSet IntervalSet::united_with(const IntervalSet& other) const {
  IntervalSet out;
  out.parts_.reserve(parts_.size() + other.parts_.size());
  auto a = parts_.begin();
  auto b = other.parts_.begin();
  while (a != parts_.end() || b != other.parts_.end()) {
    const bool take_a = b == other.parts_.end() || (a != parts_.end() && a->begin <= b->begin);
    append(out.parts_, take_a ? *a++ : *b++);
  }
  return out;
}

IntervalSet IntervalSet::intersected_with(const IntervalSet& other) const {
  IntervalSet out;
  auto a = parts_.begin();
  auto b = other.parts_.begin();
  while (a != parts_.end() && b != other.parts_.end()) {
    const Interval common{std::max(a->begin, b->begin), std::min(a->end, b->end)};
    if (!common.empty()) out.parts_.push_back(common);
    if (a->end < b->end)
      ++a;
    else
      ++b;
  }
  return out;
}

IntervalSet IntervalSet::without(const IntervalSet& other) const {
  IntervalSet out;
  out.parts_.reserve(parts_.size() + other.parts_.size());
  auto hole = other.parts_.begin();
  for (const Interval& part : parts_) {
    Nanos from = part.begin;
    while (hole != other.parts_.end() && hole->end <= from) ++hole;
    // A hole may reach into the next part, so it is passed only once it ends inside this one.
    for (auto h = hole; h != other.parts_.end() && h->begin < part.end; ++h) {
      if (from < h->begin) out.parts_.push_back({from, h->begin});
      from = std::max(from, h->end);
      hole = h;
    }
    if (from < part.end) out.parts_.push_back({from, part.end});
  }
  return out;
}

IntervalSet IntervalSet::gaps_in(Interval window) const {
  IntervalSet all;
  if (!window.empty()) all.parts_.push_back(window);
  return all.without(*this);
}

Nanos IntervalSet::total() const {
  // Disjoint parts of a 64-bit clock can sum to more than a signed 64-bit number holds; spans of a Timeline cannot.
  std::int64_t sum = 0;
  for (const Interval& part : parts_) {
    std::int64_t length = 0;
    const bool wide = __builtin_sub_overflow(part.end.count(), part.begin.count(), &length);
    if (wide || __builtin_add_overflow(sum, length, &sum)) return Nanos{std::numeric_limits<std::int64_t>::max()};
  }
  return Nanos{sum};
}

}  // namespace traceweir::timeline
