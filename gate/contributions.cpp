#include "gate/contributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "analyzer/report/quantities.hpp"
#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

constexpr double shown_share_min = 0.02;
constexpr std::size_t name_characters_max = 120;

struct CauseName {
  Cause cause;
  const char* name;
};
constexpr CauseName fixed_names[] = {
    {Cause::idle_input, "waiting for input"},     {Cause::idle_sync, "blocking calls"},
    {Cause::idle_launch, "launch overhead"},      {Cause::idle_dependency, "waiting for other streams"},
    {Cause::idle_unknown, "unknown cause"},       {Cause::graph, "CUDA graphs"},
    {Cause::distribution, "spread of the steps"}, {Cause::other, "other"}};

bool larger(const Part& a, const Part& b) {
  const double size_a = std::abs(a.delta), size_b = std::abs(b.delta);
  return size_a != size_b ? size_a > size_b : a.key < b.key;
}

Contribution row_of(const Part& part) {
  return {part.key.cause, name_of(part.key), is_idle(part.key.cause) ? part.key.name : std::string(), part.delta,
          part.note};
}

/// Moves what `other` lacks into the row that stands for the rest of a list, where `other` has such a row.
void fold_into_rest(TermSums& sums, const TermSums& other, const std::set<TermKey>& missing) {
  for (const TermKey& key : missing) {
    const TermKey rest = rest_of(key);
    if (key == rest || !other.contains(rest)) continue;
    const auto found = sums.find(key);
    const double value = found->second;
    sums.erase(found);
    sums[rest] += value;
  }
}

std::set<TermKey> missing_in(const TermSums& other, const TermSums& sums) {
  std::set<TermKey> missing;
  for (const auto& [key, value] : sums)
    if (!other.contains(key)) missing.insert(key);
  return missing;
}

double mean_of(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 0.0,
                         [](double sum, const auto& size) { return sum + size.second.weight * size.second.time; });
}

/// Puts a size that the other side lacks to the calls of unknown size, where that side has some: its list was cut, or
/// its trace does not tell sizes.
void fold_sizes(Sizes& sizes, const Sizes& other) {
  if (!other.contains(0)) return;
  for (auto size = sizes.begin(); size != sizes.end();) {
    if (size->first == 0 || other.contains(size->first)) {
      ++size;
      continue;
    }
    const SizeCalls moved = size->second;
    size = sizes.erase(size);
    const bool first = !sizes.contains(0);
    SizeCalls& rest = sizes[0];
    const double weight = rest.weight + moved.weight;
    const auto mean = [&](double a, double b) { return (a * rest.weight + b * moved.weight) / weight; };
    if (first)
      rest.transfer = moved.transfer;
    else if (rest.transfer && moved.transfer)
      rest.transfer = mean(*rest.transfer, *moved.transfer);
    else
      rest.transfer.reset();
    rest.time = mean(rest.time, moved.time);
    rest.weight = weight;
  }
}

void add_size(std::vector<Part>& parts, const TermKey& key, const SizeCalls& base, const SizeCalls& head) {
  const auto part = [&](Cause cause, double delta) { parts.push_back({{cause, key.name, key.bytes}, delta, {}}); };
  const double weight = (base.weight + head.weight) / 2;
  if (base.transfer && head.transfer) {
    const double transfer = *head.transfer - *base.transfer;
    part(Cause::transfer, weight * transfer);
    part(Cause::wait, weight * (head.time - base.time - transfer));
  } else {
    part(Cause::size_slower, weight * (head.time - base.time));
  }
}

}  // namespace

std::string name_of(const TermKey& key) {
  for (const CauseName& row : fixed_names)
    if (row.cause == key.cause) return row.name;
  if (key.cause == Cause::compute) return report::shortened(key.name, name_characters_max);
  if (key.cause == Cause::exposed_memory) return key.name == "memset" ? "memsets" : key.name + " copies";
  if (key.bytes == 0) return key.name;
  return fmt::format("{} {}", key.name, human(static_cast<double>(key.bytes), Unit::bytes));
}

std::vector<Contribution> contributions_of(std::vector<Part> parts, double delta) {
  std::erase_if(parts, [](const Part& part) { return part.delta == 0; });
  std::sort(parts.begin(), parts.end(), &larger);
  std::size_t shown = 0;
  while (shown < parts.size() && std::abs(parts[shown].delta) >= shown_share_min * std::abs(delta)) ++shown;
  // The row of the others counts too.
  const bool all = shown == parts.size() && shown <= contributions_max;
  if (!all) shown = std::min(shown, contributions_max - 1);
  std::vector<Contribution> rows;
  double sum = 0, size = std::abs(delta);
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(row_of(parts[i]));
    sum += parts[i].delta;
    size += std::abs(parts[i].delta);
  }
  constexpr double rounding = 1e-13;
  const double others = delta - sum;
  if (std::abs(others) > rounding * size) rows.push_back({Cause::other, "other", {}, others, {}});
  return rows;
}

void fold_missing(TermSums& base, TermSums& head) {
  const std::set<TermKey> only_base = missing_in(head, base), only_head = missing_in(base, head);
  const TermSums as_it_was = base;
  fold_into_rest(base, head, only_base);
  fold_into_rest(head, as_it_was, only_head);
}

std::vector<Part> differences(const TermSums& base, const TermSums& head) {
  TermSums deltas = head;
  for (const auto& [key, value] : base) deltas[key] -= value;
  std::vector<Part> parts;
  for (const auto& [key, delta] : deltas) parts.push_back({key, delta, {}});
  return parts;
}

std::vector<Part> collective_parts(timeline::Collective kind, Sizes base, Sizes head) {
  const Sizes as_it_was = base;
  fold_sizes(base, head);
  fold_sizes(head, as_it_was);
  const double centre = (mean_of(base) + mean_of(head)) / 2;
  std::vector<Part> parts;
  std::set<std::int64_t> all;
  for (const Sizes* sizes : {&base, &head})
    for (const auto& [bytes, size] : *sizes) all.insert(bytes);
  for (const std::int64_t bytes : all) {
    const TermKey key{Cause::size_mix, std::string(timeline::word(kind)), bytes};
    const auto before = base.find(bytes), after = head.find(bytes);
    const bool both = before != base.end() && after != head.end();
    const SizeCalls& in_base = before != base.end() ? before->second : after->second;
    const SizeCalls& in_head = after != head.end() ? after->second : before->second;
    const double weight_before = before != base.end() ? in_base.weight : 0;
    const double weight_after = after != head.end() ? in_head.weight : 0;
    if (both) add_size(parts, key, in_base, in_head);
    parts.push_back({key, ((in_base.time + in_head.time) / 2 - centre) * (weight_after - weight_before), {}});
  }
  return parts;
}

}  // namespace traceweir::gate
