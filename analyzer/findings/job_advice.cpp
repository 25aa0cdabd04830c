#include "analyzer/findings/job_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/findings/case_numbers.hpp"

// Every threshold without another source is that of the spec of metrics, section 8.
namespace traceweir::findings {
namespace {

using timeline::Collective;
using timeline::HostMemory;
using timeline::Work;
using timeline::WorkKind;
using timeline::WorkSource;

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

/// A finding with one decisive ratio.
Seen with_ratio(const char* key, double ratio) {
  Seen seen;
  seen.evidence[key] = ratio;
  return seen;
}

/// Counts and adds up the works that start in the window and that `wanted` picks.
struct Tally {
  std::int64_t count = 0;
  double bytes = 0;
};
template <typename Wanted>
Tally tally(const Case& seen, Wanted wanted) {
  Tally sum;
  if (!seen.view.window) return sum;
  for (const Work& work : seen.view.timeline->work) {
    if (!seen.view.window->span.contains(work.begin) || !wanted(work)) continue;
    ++sum.count;
    sum.bytes += static_cast<double>(work.bytes);
  }
  return sum;
}

bool is_copy(const Work& work) { return work.kind == WorkKind::memory && work.source == WorkSource::memcpy; }

bool has_steps(const Case& seen) { return seen.view.window && seen.view.window->steps.has_value(); }

/// The rank's time in terms of this kind. Units: ratio of devices × window.
double ratio_of(const Case& seen, TermKind kind) {
  const double whole = device_time_ns(seen);
  double sum = 0;
  for (const Term& term : seen.attribution.breakdown)
    if (term.kind == kind) sum += static_cast<double>(term.length.count());
  return whole > 0 ? sum / whole : 0;
}

/// The rank's time with an exposed copy in this direction. Units: ratio of devices × window.
double exposed_copy_ratio(const Case& seen, std::string_view direction) {
  const double whole = device_time_ns(seen);
  for (const Term& term : seen.attribution.breakdown)
    if (term.kind == TermKind::exposed_memory && term.name == direction && whole > 0)
      return static_cast<double>(term.length.count()) / whole;
  return 0;
}

/// The phase with most idle time of one cause; empty: in no phase.
std::string main_phase(const Case& seen, IdleCause cause) {
  for (const Term& term : seen.attribution.breakdown)  // longest first
    if (term.kind == TermKind::idle && term.cause == cause) return term.name;
  return {};
}

/// A finding of a rank that idles too much, mostly for `cause`.
std::optional<Seen> idle_mostly(const Case& seen, IdleCause cause, double idle_ratio_max) {
  const auto idle = measured(seen, "gpu.idle");
  if (!idle || *idle <= idle_ratio_max || largest_idle_cause(seen) != cause) return std::nullopt;
  Seen out = with_ratio("idle_ratio", *idle);
  out.evidence[std::string(word(cause)) + "_ratio"] = idle_ratio(seen, cause);
  if (const std::string phase = main_phase(seen, cause); !phase.empty()) out.evidence["phase"] = phase;
  return out;
}

constexpr double idle_bound_ratio = 0.20;

}  // namespace

constexpr std::int64_t small_allreduce_bytes = metrics::small_message_bytes_max;
constexpr double small_allreduces_per_step = 10;
constexpr double small_allreduce_ratio = 0.30;

std::optional<Seen> small_allreduces(const Case& seen) {
  std::int64_t sized = 0;
  std::int64_t small = 0;
  for (const metrics::CollectiveRow& row : seen.measures.collectives) {
    if (row.kind != Collective::allreduce || row.bytes <= 0) continue;
    sized += row.count;
    if (row.bytes <= small_allreduce_bytes) small += row.count;
  }
  if (small == 0) return std::nullopt;
  const double share = static_cast<double>(small) / static_cast<double>(sized);
  const double per_step = per_step_and_device(seen, static_cast<double>(small));
  const bool many = has_steps(seen) && per_step >= small_allreduces_per_step;
  if (!many && share <= small_allreduce_ratio) return std::nullopt;
  Seen out = with_ratio("small_ratio", share);
  out.count = small;
  if (has_steps(seen)) out.evidence["per_step_count"] = per_step;
  out.evidence["limit_bytes"] = small_allreduce_bytes;
  return out;
}

constexpr double exposed_allreduce_ratio = 0.10;

std::optional<Seen> exposed_allreduce(const Case& seen) {
  const auto exposed = measured(seen, "allreduce.exposed_share");
  if (!exposed || *exposed <= exposed_allreduce_ratio) return std::nullopt;
  return with_ratio("exposed_ratio", *exposed);
}

constexpr double sync_idle_ratio = 0.05;
constexpr double sync_share_ratio = 0.10;
constexpr double sync_with_idle_ratio = 0.10;

std::optional<Seen> sync_in_step(const Case& seen) {
  const InSteps in_steps(seen);
  const auto& calls = seen.view.timeline->calls;
  const auto blocking = std::count_if(calls.begin(), calls.end(),
                                      [&](const timeline::Call& call) { return call.blocking && in_steps(call); });
  if (blocking == 0) return std::nullopt;
  const double waited = idle_ratio(seen, IdleCause::sync);
  const double share = measured(seen, "sync.share").value_or(0);
  const double idle = measured(seen, "gpu.idle").value_or(0);
  const bool costly = share > sync_share_ratio && idle > sync_with_idle_ratio;
  if (waited <= sync_idle_ratio && !costly) return std::nullopt;
  Seen out = with_ratio("idle_sync_ratio", waited);
  out.count = blocking;
  out.evidence["sync_ratio"] = share;
  if (!has_steps(seen))
    out.advice =
        "The host waits for the GPU (in the whole window, since no steps are marked); look for .item(), .cpu(), "
        "synchronize() and printing of tensors.";
  if (const std::string phase = main_phase(seen, IdleCause::sync); !phase.empty()) out.evidence["phase"] = phase;
  return out;
}

constexpr double pageable_ratio = 0.10;
constexpr double pageable_bytes_per_step = mib;

std::optional<Seen> pageable_copies(const Case& seen) {
  const auto share = measured(seen, "memcpy.pageable_share");
  if (!share || *share <= pageable_ratio) return std::nullopt;
  const Tally pageable =
      tally(seen, [](const Work& work) { return is_copy(work) && work.host_memory == HostMemory::pageable; });
  const double per_step = per_step_and_device(seen, pageable.bytes);
  if (per_step <= pageable_bytes_per_step) return std::nullopt;
  Seen out = with_ratio("pageable_ratio", *share);
  out.count = pageable.count;
  // Without steps the sum is the window's, and calling it a step's would be wrong.
  out.evidence[has_steps(seen) ? "per_step_bytes" : "window_bytes"] = per_step;
  if (!has_steps(seen))
    out.advice =
        "Copies from pageable memory block the host and run slower (bytes of the whole window, since no steps are "
        "marked); use pin_memory=True and non_blocking=True.";
  return out;
}

constexpr double h2d_overlap_ratio = 0.50;
constexpr double h2d_exposed_ratio = 0.01;

std::optional<Seen> serial_copies(const Case& seen) {
  const auto overlap = measured(seen, "memcpy.h2d_overlap");
  const double exposed = exposed_copy_ratio(seen, "h2d");
  if (!overlap || *overlap >= h2d_overlap_ratio || exposed <= h2d_exposed_ratio) return std::nullopt;
  Seen out = with_ratio("overlap_ratio", *overlap);
  out.evidence["exposed_ratio"] = exposed;
  return out;
}

std::optional<Seen> input_bound(const Case& seen) { return idle_mostly(seen, IdleCause::input, idle_bound_ratio); }

constexpr double short_kernel_ns = 10'000;

std::optional<Seen> launch_bound(const Case& seen) {
  const auto median = measured(seen, "launch.kernel_p50");
  if (!median || *median >= short_kernel_ns) return std::nullopt;
  auto out = idle_mostly(seen, IdleCause::launch, idle_bound_ratio);
  if (out) out->evidence["kernel_p50_ns"] = *median;
  return out;
}

constexpr std::int64_t small_copy_bytes = 64 * kib;
constexpr double small_copies_per_step = 50;

std::optional<Seen> many_small_copies(const Case& seen) {
  if (!has_steps(seen)) return std::nullopt;
  const Tally small = tally(seen, [](const Work& work) { return is_copy(work) && work.bytes <= small_copy_bytes; });
  const double per_step = per_step_and_device(seen, static_cast<double>(small.count));
  if (per_step <= small_copies_per_step) return std::nullopt;
  Seen out;
  out.count = small.count;
  out.evidence["per_step_count"] = per_step;
  out.evidence["limit_bytes"] = small_copy_bytes;
  return out;
}

// A warm allocator asks the driver for nothing; one request in a whole capture is no pattern yet.
constexpr double allocations_per_step = 1;

std::optional<Seen> alloc_in_step(const Case& seen) {
  if (seen.view.steps.empty() || !has_steps(seen)) return std::nullopt;
  const InSteps in_steps(seen);
  timeline::IntervalSet comm;
  for (const metrics::DeviceView& device : seen.view.devices) comm = comm.united_with(device.comm);
  const auto parts = comm.parts();
  Seen out;
  out.count = 0;
  std::int64_t during_comm = 0;
  for (const timeline::Call& call : seen.view.timeline->calls) {
    if (!call.allocates || !in_steps(call)) continue;
    ++out.count;
    const auto part =
        std::partition_point(parts.begin(), parts.end(), [&](const Interval& p) { return p.end <= call.begin; });
    if (part != parts.end() && part->begin < call.end) ++during_comm;
  }
  const double per_step = static_cast<double>(out.count) / static_cast<double>(steps_or_one(seen));
  if (per_step < allocations_per_step) return std::nullopt;
  out.evidence["per_step_count"] = per_step;
  out.evidence["during_collectives_count"] = during_comm;
  if (during_comm > 0) out.severity = Severity::warning;
  return out;
}

constexpr double low_utilization_ratio = 0.50;

std::optional<Seen> low_utilization(const Case& seen) {
  const auto utilization = measured(seen, "gpu.utilization");
  if (!utilization || *utilization >= low_utilization_ratio) return std::nullopt;
  Seen out = with_ratio("utilization_ratio", *utilization);
  // What covers most of the time comes first: a rank that copies all the time is not helped by looking at its idle
  // time.
  const double idle = ratio_of(seen, TermKind::idle);
  const double copies = ratio_of(seen, TermKind::exposed_memory), comm = ratio_of(seen, TermKind::exposed_comm);
  if (copies > idle) out.evidence["exposed_copies_ratio"] = copies;
  if (comm > idle) out.evidence["exposed_comm_ratio"] = comm;
  if (std::max(copies, comm) > idle) {
    out.advice = copies >= comm ? fmt::format(
                                      "{:.0f} % of the time is copies that no kernel hides; overlap them with "
                                      "compute, copy less, or keep the data on the GPU.",
                                      copies * 100)
                                : fmt::format(
                                      "{:.0f} % of the time is communication that no kernel hides; overlap it "
                                      "with compute or send less.",
                                      comm * 100);
    return out;
  }
  if (const auto cause = largest_idle_cause(seen)) {
    out.evidence["largest_idle_cause"] = std::string(word(*cause));
    out.evidence["largest_idle_cause_ratio"] = idle_ratio(seen, *cause);
  }
  return out;
}

// Source: Nsight Systems, rule gpu_gaps.
constexpr Nanos long_gap{500'000'000};
constexpr std::size_t gap_examples_max = 3;

std::optional<Seen> gap(const Case& seen) {
  struct Found {
    std::int64_t device;
    Interval span;
  };
  std::vector<Found> gaps;
  for (const metrics::DeviceView& device : seen.view.devices) {
    const timeline::IntervalSet idle = device.busy.gaps_in(seen.view.window->span);
    for (const Interval& span : idle.parts())
      if (span.length() > long_gap) gaps.push_back({device.times.device, span});
  }
  if (gaps.empty()) return std::nullopt;
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const Found& a, const Found& b) { return a.span.length() > b.span.length(); });
  Seen out;
  out.count = static_cast<std::int64_t>(gaps.size());
  out.device = gaps.front().device;
  for (std::size_t i = 0; i < std::min(gaps.size(), gap_examples_max); ++i) {
    const std::string number = std::to_string(i + 1);
    out.evidence["gap_" + number + "_offset_ns"] = (gaps[i].span.begin - seen.view.window->span.begin).count();
    out.evidence["gap_" + number + "_length_ns"] = gaps[i].span.length().count();
  }
  return out;
}

}  // namespace traceweir::findings
