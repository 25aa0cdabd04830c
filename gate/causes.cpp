#include "gate/causes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gate/evidence.hpp"
#include "gate/kernel_names.hpp"
#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

/// Parts that a sentence speaks of together: all kernels, all sizes of a collective, all phases of an idle cause.
struct Group {
  Cause cause;
  std::string name;  ///< collective or direction
  double delta = 0;  ///< of the metric
  bool grew = true;  ///< the time itself
  std::vector<const Part*> parts;
};

struct CauseWords {
  Cause cause;
  const char* what;
};
constexpr CauseWords idle_words[] = {
    {Cause::idle_input, "idle time waiting for input"},
    {Cause::idle_sync, "idle time around blocking calls of the host"},
    {Cause::idle_launch, "idle time from launch overhead of the host"},
    {Cause::idle_dependency, "idle time of queued work that waits for other streams"},
    {Cause::idle_unknown, "idle time of unknown cause"},
};

/// A cause below this part of the difference is not in the sentence.
constexpr double told_share_min = 0.15;
constexpr std::size_t told_max = 3;
/// One part that is this much of its group stands for it.
constexpr double named_share_min = 0.6;

/// One that is this much of it is worth a word.
constexpr double mentioned_share_min = 0.25;

bool by_name(Cause cause) { return cause != Cause::compute && cause != Cause::graph; }

std::vector<Group> groups_of(const std::vector<Part>& parts, const Telling& telling) {
  // A host that has just been blocked is late with its next launches too: one cause, not two.
  const bool synced = !syncs_text(telling.runs.base(), telling.runs.head()).empty();
  std::vector<Group> groups;
  for (const Part& part : parts) {
    Cause cause = part.key.cause;
    if (synced && cause == Cause::idle_launch) cause = Cause::idle_sync;
    const std::string name = by_name(cause) && !is_idle(cause) ? part.key.name : std::string();
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.cause == cause && g.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{cause, name, 0, true, {}});
    group->delta += part.delta;
    group->parts.push_back(&part);
  }
  for (Group& group : groups) {
    group.grew = group.delta * telling.sign > 0;
    std::stable_sort(group.parts.begin(), group.parts.end(),
                     [](const Part* a, const Part* b) { return std::abs(a->delta) > std::abs(b->delta); });
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return std::abs(a.delta) > std::abs(b.delta); });
  return groups;
}

bool stands_for(const Group& group) { return group.parts.front()->delta / group.delta >= named_share_min; }

/// "4 of them new": how many kernels of a group came or went.
std::string came_and_went(const Group& group) {
  std::size_t came = 0, went = 0;
  for (const Part* part : group.parts) {
    if (part->note == "new") ++came;
    if (part->note == "gone") ++went;
  }
  if (came == 0 && went == 0) return {};
  return fmt::format(" ({} new, {} gone)", came, went);
}

std::string on_rank(const Group& group, const Explainer& runs) {
  std::vector<TermKey> keys;
  for (const Part* part : group.parts) keys.push_back(part->key);
  const auto rank = runs.rank_of(keys);
  return rank ? fmt::format(" on rank {}", *rank) : std::string();
}

std::string kernels_words(const Group& group, const Explainer& runs) {
  const Part& first = *group.parts.front();
  const std::string_view name = short_kernel(first.key.name);
  const std::string rank = on_rank(group, runs);
  // A note is about all ranks; beside a single one its numbers would mislead.
  const std::string note = first.note.empty() || !rank.empty() ? std::string() : fmt::format(" ({})", first.note);
  if (stands_for(group)) return fmt::format("compute in {}{}{}", name, note, rank);
  return fmt::format("compute{}, spread over kernels{}, the largest part in {}{}", rank, came_and_went(group), name,
                     note);
}

/// The phase that most of an idle cause lies in.
std::string in_phase(const Group& group) {
  const std::string& phase = group.parts.front()->key.name;
  if (phase.empty() || phase == rest_name) return {};
  if (stands_for(group)) return " in " + phase;
  return group.parts.front()->delta / group.delta >= mentioned_share_min ? ", the largest part in " + phase
                                                                         : std::string();
}

std::string parenthesised(const std::string& text) { return text.empty() ? text : fmt::format(" ({})", text); }

std::string idle_text(const Group& group, const Explainer& runs) {
  const auto* row = std::find_if(std::begin(idle_words), std::end(idle_words),
                                 [&](const CauseWords& words) { return words.cause == group.cause; });
  std::string evidence;
  if (group.cause == Cause::idle_sync) evidence = syncs_text(runs.base(), runs.head());
  if (group.cause == Cause::idle_launch) evidence = launches_text(runs.base(), runs.head());
  return row->what + in_phase(group) + on_rank(group, runs) + parenthesised(evidence);
}

/// Who is waited for: the rank whose own time changed in the same direction as the waiting.
std::string awaited(const Group& group, const Explainer& runs) {
  const auto& straggler = runs.straggler();
  if (!straggler || (straggler->growth > 0) != group.grew) return {};
  const std::string change = human(std::abs(straggler->growth), Unit::ns);
  return fmt::format("waiting for rank {}, which takes {} a step {}", straggler->rank, change,
                     straggler->growth > 0 ? "longer" : "less");
}

std::string comm_words(const Group& group, const Explainer& runs) {
  const auto kind = timeline::collective_of(group.name);
  std::string evidence = kind ? calls_text(runs.base(), runs.head(), *kind) : std::string();
  const Slower slower = kind ? slower_by(runs.base(), runs.head(), *kind) : Slower::unknown;
  const std::string whom = slower == Slower::transfer ? std::string() : awaited(group, runs);
  if (slower == Slower::transfer && group.grew) evidence = transfer_text(runs.base(), runs.head(), *kind) + evidence;
  if (!whom.empty()) evidence = whom;
  return fmt::format("exposed {}{}", group.name, parenthesised(evidence));
}

std::string calls_words(const Group& group, const Explainer& runs) {
  const auto kind = timeline::collective_of(group.name);
  const std::string calls = kind ? calls_text(runs.base(), runs.head(), *kind) : std::string();
  if (group.cause == Cause::size_mix) return "another mix of message sizes" + parenthesised(calls);
  if (group.cause == Cause::size_slower)
    return fmt::format("{} calls{}", group.grew ? "slower" : "faster", parenthesised(calls));
  const std::string less = group.grew ? "" : "less ";
  if (group.cause == Cause::transfer) return less + "transfer over the network" + parenthesised(calls);
  const std::string whom = awaited(group, runs);
  return less + (whom.empty() ? "waiting for the slowest rank" : whom);
}

bool is_of_calls(Cause cause) {
  return cause == Cause::transfer || cause == Cause::wait || cause == Cause::size_slower || cause == Cause::size_mix;
}

std::string words_of(const Group& group, const Explainer& runs) {
  if (group.cause == Cause::distribution) return "single steps that differ from the mean";
  if (is_of_calls(group.cause)) return calls_words(group, runs);
  std::string what = "CUDA graphs";
  if (group.cause == Cause::compute) what = kernels_words(group, runs);
  if (group.cause == Cause::exposed_comm) what = comm_words(group, runs);
  if (group.cause == Cause::exposed_memory)
    what = "exposed " + name_of({group.cause, group.name, 0}) +
           parenthesised(copies_text(runs.base(), runs.head(), group.name)) + on_rank(group, runs);
  if (is_idle(group.cause)) what = idle_text(group, runs);
  return (group.grew ? "" : "less ") + what;
}

/// Two amounts of one unit, which only the second one says: "12.9", "13.5 ms"; "18.3", "21.1 points".
struct Amounts {
  std::string part, whole;
};
Amounts amounts(double part, double whole, Unit unit) {
  if (unit == Unit::ratio)
    return {fmt::format("{:.1f}", std::abs(part) * 100), fmt::format("{:.1f} points", std::abs(whole) * 100)};
  HumanPair pair = human_pair(std::abs(part), std::abs(whole), unit);
  const std::size_t space = pair.from.rfind(' ');
  if (space != std::string::npos && pair.to.ends_with(pair.from.substr(space))) pair.from.resize(space);
  return {pair.from, pair.to};
}

std::string alone(double part, Unit unit) {
  return unit == Unit::ratio ? fmt::format("{:.1f} points", std::abs(part) * 100) : human(std::abs(part), unit);
}

/// The causes that matter: those that make most of the difference.
std::vector<const Group*> told(const std::vector<Group>& groups, double delta) {
  std::vector<const Group*> chosen;
  for (const Group& group : groups)
    if (group.delta * delta > 0 && std::abs(group.delta) >= told_share_min * std::abs(delta) &&
        chosen.size() < told_max)
      chosen.push_back(&group);
  return chosen;
}

std::string causes_text(const Explanation& explanation, const std::vector<Group>& groups, const Telling& telling) {
  const std::vector<const Group*> chosen = told(groups, explanation.delta);
  if (chosen.empty()) return "many small causes";
  constexpr double more_than_all = 1.1, all_share_min = 0.995;
  const bool offset = std::abs(chosen.front()->delta) > more_than_all * std::abs(explanation.delta);
  std::vector<std::string> clauses;
  for (const Group* group : chosen) {
    const Amounts amount = amounts(group->delta, explanation.delta, explanation.unit);
    const std::string words = words_of(*group, telling.runs);
    const bool whole = std::abs(group->delta) > all_share_min * std::abs(explanation.delta);
    if (clauses.empty() && !offset && whole)
      clauses.push_back(fmt::format("all of the {} are {}", alone(explanation.delta, explanation.unit), words));
    else if (clauses.empty() && !offset)
      clauses.push_back(fmt::format("{} of {} are {}", amount.part, amount.whole, words));
    else
      clauses.push_back(fmt::format("{} {}", offset ? alone(group->delta, explanation.unit) : amount.part, words));
  }
  if (!offset) return fmt::format("{}", fmt::join(clauses, ", "));
  const auto against = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
    return group.delta * explanation.delta < 0 && std::abs(group.delta) >= told_share_min * std::abs(explanation.delta);
  });
  const std::string made_up =
      against == groups.end() ? std::string()
                              : fmt::format(", partly made up for by {} {}", alone(against->delta, explanation.unit),
                                            words_of(*against, telling.runs));
  return fmt::format("{}", fmt::join(clauses, ", ")) + made_up;
}

}  // namespace

std::string sentence_of(const Explanation& explanation, const std::vector<Part>& parts, const Telling& telling) {
  const HumanPair values = human_pair(explanation.base, explanation.head, explanation.unit);
  if (rounds_to_nothing(explanation.delta, explanation.base, explanation.unit))
    return fmt::format("{} did not change ({})", explanation.metric, human(explanation.head, explanation.unit));
  return fmt::format("{} {} from {} to {}: {}", explanation.metric, explanation.delta > 0 ? "rose" : "fell",
                     values.from, values.to, causes_text(explanation, groups_of(parts, telling), telling));
}

}  // namespace traceweir::gate
