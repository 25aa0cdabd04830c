#include "analyzer/metrics/sums.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "analyzer/metrics/statistics.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Collective;
using timeline::Direction;
using timeline::DurationSum;
using timeline::KernelSum;
using timeline::Sums;

using Rows = std::vector<const DurationSum*>;

std::int64_t count_of(const Rows& rows) {
  Sum count;
  for (const DurationSum* row : rows) count.add(row->count);
  return count.clamped();
}

Sum total_of(const Rows& rows) {
  Sum total;
  for (const DurationSum* row : rows) total.add(row->total.count());
  return total;
}

Value mean_of(const Rows& rows) { return total_of(rows).as_double() / static_cast<double>(count_of(rows)); }
Value exact_total(const Rows& rows) { return total_of(rows).clamped(); }
Value calls_of(const Rows& rows) { return count_of(rows); }

Value longest_of(const Rows& rows) {
  std::int64_t longest = 0;
  for (const DurationSum* row : rows) {
    if (!row->max) return NotMeasured::no_such_table;
    longest = std::max(longest, row->max->count());
  }
  return longest;
}

/// The durations of a row one by one, where its count, least, greatest and median tell them all.
bool add_durations(const DurationSum& row, std::vector<std::int64_t>& durations) {
  if (row.count == 1) return durations.push_back(row.total.count()), true;
  if (!row.min || !row.max) return false;
  const std::int64_t least = row.min->count(), greatest = row.max->count();
  if (row.count > 3 && least != greatest) return false;
  if (row.count > 3) return durations.insert(durations.end(), static_cast<std::size_t>(row.count), least), true;
  durations.push_back(least);
  durations.push_back(greatest);
  if (row.count < 3) return true;
  const std::int64_t others = row.total.count() - least;
  if (others < greatest) return false;  // the row contradicts itself
  durations.push_back(others - greatest);
  return durations.back() >= least;
}

/// Of one row its own median; of several only where the rows tell every duration. Medians cannot be averaged.
Value median_of(const Rows& rows) {
  constexpr std::int64_t expanded_max = 1'000'000;
  if (rows.size() == 1 && rows.front()->median) return *rows.front()->median;
  if (count_of(rows) > expanded_max) return NotMeasured::no_such_table;
  std::vector<std::int64_t> durations;
  for (const DurationSum* row : rows)
    if (!add_durations(*row, durations)) return NotMeasured::no_such_table;
  std::sort(durations.begin(), durations.end());
  return quantile(durations, 0.5);
}

struct KindRow {
  std::string_view ending;
  Value (*of)(const Rows&);
};
constexpr KindRow kind_rows[] = {{".time_mean", &mean_of},
                                 {".time_p50", &median_of},
                                 {".time_max", &longest_of},
                                 {".time_total", &exact_total},
                                 {".count", &calls_of}};

Rows rows_of(const std::vector<KernelSum>& kernels, Collective kind) {
  Rows rows;
  for (const KernelSum& kernel : kernels)
    if (kernel.collective == kind) rows.push_back(&kernel.durations);
  return rows;
}

/// Copies between devices are communication of kind `other`. Sums name some of them (PtoP) and hide the others among
/// device-to-device copies: then `other` is not known.
bool may_hide_peer_copies(const Sums& sums) {
  if (!sums.copies) return true;
  return std::any_of(sums.copies->begin(), sums.copies->end(),
                     [](const auto& copy) { return copy.peer || copy.direction == Direction::d2d; });
}

Value of_kind(const Sums& sums, Collective kind, std::string_view id) {
  if (!sums.kernels) return NotMeasured::no_such_table;
  if (kind == Collective::other && may_hide_peer_copies(sums)) return NotMeasured::no_such_table;
  const Rows rows = rows_of(*sums.kernels, kind);
  if (rows.empty()) return NotMeasured::no_comm;
  for (const KindRow& row : kind_rows)
    if (id.ends_with(row.ending)) return row.of(rows);
  if (id.ends_with("_per_step")) return NotMeasured::no_steps;
  const bool needs_sizes = id.ends_with(".bytes_mean") || id.ends_with(".busbw");
  return needs_sizes ? NotMeasured::no_sizes : NotMeasured::no_such_table;
}

Value kernel_p50(const Sums& sums) {
  if (!sums.kernels) return NotMeasured::no_such_table;
  Rows rows;
  for (const KernelSum& kernel : *sums.kernels) rows.push_back(&kernel.durations);
  return rows.empty() ? Value(NotMeasured::no_gpu_work) : median_of(rows);
}

/// Bytes over durations, where both tables have the same copies.
Value h2d_bandwidth(const Sums& sums) {
  if (!sums.copies || !sums.copy_bytes) return NotMeasured::no_such_table;
  double bytes = 0;
  Sum sized;
  for (const auto& row : *sums.copy_bytes)
    if (row.direction == Direction::h2d) bytes += row.bytes, sized.add(row.count);
  Rows rows;
  for (const auto& copy : *sums.copies)
    if (copy.direction == Direction::h2d) rows.push_back(&copy.durations);
  if (rows.empty()) return NotMeasured::no_copies;
  // A size below half of the last printed digit reads 0: that is no bandwidth of 0.
  if (sized.clamped() != count_of(rows) || bytes == 0 || total_of(rows).zero()) return NotMeasured::no_sizes;
  return bytes / total_of(rows).as_double();
}

struct OtherRow {
  std::string_view id;
  Value (*of)(const Sums&);
};
constexpr OtherRow other_rows[] = {{"launch.kernel_p50", &kernel_p50}, {"memcpy.h2d_bandwidth", &h2d_bandwidth}};

}  // namespace

Value value_from_sums(const Sums& sums, const Metric& metric) {
  const std::string_view id = metric.info.id;
  if (metric.kind) return of_kind(sums, *metric.kind, id);
  for (const OtherRow& row : other_rows)
    if (row.id == id) return row.of(sums);
  const bool per_step = id.ends_with("_per_step") || id.starts_with("step.");
  return per_step ? NotMeasured::no_steps : NotMeasured::no_such_table;
}

std::vector<KernelRow> kernel_rows_from_sums(const Sums& sums) {
  std::vector<KernelRow> rows;
  if (!sums.kernels) return rows;
  Rows all;
  for (const KernelSum& kernel : *sums.kernels) all.push_back(&kernel.durations);
  const double whole = total_of(all).as_double();
  for (const KernelSum& kernel : *sums.kernels) {
    const double share = whole == 0 ? 0.0 : static_cast<double>(kernel.durations.total.count()) / whole;
    const auto kind = kernel.collective ? timeline::WorkKind::comm : timeline::WorkKind::compute;
    rows.push_back({kernel.durations.name, kind, kernel.durations.count, kernel.durations.total, share});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
  return rows;
}

std::vector<CollectiveRow> collective_rows_from_sums(const Sums& sums) {
  std::vector<CollectiveRow> out;
  if (!sums.kernels) return out;
  for (const Collective kind : timeline::collectives) {
    const Rows rows = rows_of(*sums.kernels, kind);
    const Value longest = longest_of(rows);
    const auto* max = std::get_if<std::int64_t>(&longest);
    if (rows.empty() || max == nullptr) continue;
    Nanos least = rows.front()->min.value_or(Nanos{0});
    for (const DurationSum* row : rows) least = std::min(least, row->min.value_or(Nanos{0}));
    out.push_back({kind, 0, count_of(rows), Nanos{total_of(rows).clamped()}, least, Nanos{*max}, 0, {}});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
  return out;
}

}  // namespace traceweir::metrics
