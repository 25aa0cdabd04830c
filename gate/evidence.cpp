#include "gate/evidence.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

/// A value of both runs.
struct Both {
  double base, head;
};

std::optional<Both> both(const RunSide& base, const RunSide& head, const std::string& metric) {
  const auto before = base.value(metric), after = head.value(metric);
  if (!before || !after) return std::nullopt;
  return Both{*before, *after};
}

/// Counts differ by chance where windows begin or end elsewhere.
constexpr double other_count_share = 0.05;
bool differs(const Both& values) {
  return std::abs(values.head - values.base) >
         other_count_share * std::max(std::abs(values.base), std::abs(values.head));
}

std::string counts_text(const RunSide& base, const RunSide& head, const std::string& metric, const char* noun) {
  const auto counts = both(base, head, metric);
  if (!counts || !differs(*counts)) return {};
  return fmt::format("{} {} a step instead of {}", count_text(counts->head), noun, count_text(counts->base));
}

}  // namespace

std::string count_text(double count) {
  return std::abs(count - std::round(count)) < 0.005 ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}", count);
}

std::string calls_text(const RunSide& base, const RunSide& head, timeline::Collective kind) {
  const std::string name(timeline::word(kind));
  const auto counts = both(base, head, name + ".count_per_step");
  const auto sizes = both(base, head, name + ".bytes_mean");
  const auto of = [&](double Both::*side) {
    return sizes ? " of " + human((*sizes).*side, Unit::bytes) : std::string();
  };
  if (!counts) return {};
  const bool same = !differs(*counts) && (!sizes || !differs(*sizes));
  std::string text = fmt::format("{} calls a step{}", count_text(counts->head), of(&Both::head));
  if (!same) text += fmt::format(" instead of {}{}", count_text(counts->base), of(&Both::base));
  return text;
}

std::string syncs_text(const RunSide& base, const RunSide& head) {
  return counts_text(base, head, "sync.count_per_step", "synchronisations");
}

std::string launches_text(const RunSide& base, const RunSide& head) {
  return counts_text(base, head, "launch.count_per_step", "kernels");
}

std::string copies_text(const RunSide& base, const RunSide& head, std::string_view direction) {
  const auto pageable = both(base, head, "memcpy.pageable_share");
  constexpr double other_share = 0.05;
  if (pageable && std::abs(pageable->head - pageable->base) > other_share)
    return fmt::format("{:.0f} % of the bytes from pageable memory instead of {:.0f} %", pageable->head * 100,
                       pageable->base * 100);
  const auto bytes = both(base, head, fmt::format("memcpy.{}_bytes_per_step", direction));
  if (!bytes || !differs(*bytes)) return {};
  return fmt::format("{} a step instead of {}", human(bytes->head, Unit::bytes), human(bytes->base, Unit::bytes));
}

std::string transfer_text(const RunSide& base, const RunSide& head, timeline::Collective kind) {
  const auto transfer = both(base, head, fmt::format("{}.transfer_mean", timeline::word(kind)));
  if (!transfer || !differs(*transfer)) return {};
  const HumanPair pair = human_pair(transfer->base, transfer->head, Unit::ns);
  return fmt::format("the network takes {} a call instead of {}, ", pair.to, pair.from);
}

Slower slower_by(const RunSide& base, const RunSide& head, timeline::Collective kind) {
  const std::string name(timeline::word(kind));
  const auto mean = both(base, head, name + ".time_mean"), transfer = both(base, head, name + ".transfer_mean");
  if (!mean || !transfer) return Slower::unknown;
  const double total = mean->head - mean->base, by_transfer = transfer->head - transfer->base;
  return std::abs(by_transfer) >= std::abs(total - by_transfer) ? Slower::transfer : Slower::wait;
}

}  // namespace traceweir::gate
