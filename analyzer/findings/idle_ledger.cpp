#include "analyzer/findings/idle_ledger.hpp"

#include <algorithm>

namespace traceweir::findings {
namespace {

using timeline::Direction;

constexpr IdleCause all_causes[] = {IdleCause::input, IdleCause::sync, IdleCause::launch, IdleCause::dependency,
                                    IdleCause::unknown};

/// The cause of an instant before the launching call of `next` began. The order is the contract's.
IdleCause cause_before_launch(const HostState& state, const timeline::Work& next) {
  if (state.loading) return IdleCause::input;
  if (state.blocking) return IdleCause::sync;
  return next.direction == Direction::h2d ? IdleCause::input : IdleCause::launch;
}

}  // namespace

void IdleLedger::add(const Gap& gap) {
  const bool known = gap.next != nullptr && gap.next->call != timeline::none;
  if (!known) return book(IdleCause::unknown, no_phase, gap.counted);
  const timeline::Call& call = timeline_.calls[gap.next->call];
  const bool queued = call.begin <= gap.span.begin;
  for_each_state(host_.pieces(call.thread), gap.counted, [&](Interval part, const HostState& state) {
    if (queued) return book(IdleCause::dependency, state.phase, part);
    const Nanos launched = std::clamp(call.begin, part.begin, part.end);
    book(cause_before_launch(state, *gap.next), state.phase, {part.begin, launched});
    book(IdleCause::launch, state.phase, {launched, part.end});
  });
}

void IdleLedger::book(IdleCause cause, std::uint32_t phase, Interval part) {
  if (part.empty()) return;
  // Gaps of one cause and phase come one after the other.
  if (last_ == nullptr || last_->first != std::pair(cause, phase)) last_ = &*sums_.try_emplace({cause, phase}, 0).first;
  last_->second += part.length().count();
  causes_[static_cast<std::size_t>(cause)] += part.length();
}

std::map<IdleCause, Nanos> IdleLedger::take_causes() {
  std::map<IdleCause, Nanos> causes;
  for (const IdleCause cause : all_causes)
    causes.emplace(cause, std::exchange(causes_[static_cast<std::size_t>(cause)], Nanos{0}));
  return causes;
}

}  // namespace traceweir::findings
