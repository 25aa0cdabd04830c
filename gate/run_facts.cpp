#include "gate/run_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gate/kernel_names.hpp"
#include "gate/metric_facts.hpp"
#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

using report::RankReport;
using report::Report;

/// The distinct non-empty values of a field over the ranks, joined.
template <typename Field>
std::string over_ranks(const Report& report, Field field) {
  std::set<std::string> values;
  for (const RankReport& rank : report.ranks)
    for (const std::string& value : field(rank))
      if (!value.empty()) values.insert(value);
  return fmt::format("{}", fmt::join(values, ", "));
}

using Texts = std::vector<std::string>;

struct EnvironmentKey {
  const char* key;
  std::string (*of)(const Report&);
};
constexpr EnvironmentKey environment_keys[] = {
    {"gpu", [](const Report& r) { return over_ranks(r, [](const auto& k) { return k.environment.gpus; }); }},
    {"gpu_count",
     [](const Report& r) {
       std::int64_t count = 0;
       for (const RankReport& rank : r.ranks) count += rank.environment.gpu_count;
       return std::to_string(count);
     }},
    {"ranks", [](const Report& r) { return std::to_string(r.ranks.size()); }},
    {"world_size",
     [](const Report& r) {
       return over_ranks(r, [](const auto& k) { return Texts{k.world_size == 0 ? "" : std::to_string(k.world_size)}; });
     }},
    {"driver",
     [](const Report& r) { return over_ranks(r, [](const auto& k) { return Texts{k.environment.driver}; }); }},
    {"cuda", [](const Report& r) { return over_ranks(r, [](const auto& k) { return Texts{k.environment.cuda}; }); }},
    {"nccl", [](const Report& r) { return over_ranks(r, [](const auto& k) { return Texts{k.environment.nccl}; }); }},
    {"framework",
     [](const Report& r) { return over_ranks(r, [](const auto& k) { return Texts{k.environment.framework}; }); }},
    {"graph_mode",
     [](const Report& r) { return over_ranks(r, [](const auto& k) { return Texts{k.environment.graph_mode}; }); }},
    {"trace", [](const Report& r) { return over_ranks(r, [](const auto& k) { return Texts{k.trace.format}; }); }},
    {"window",
     [](const Report& r) {
       return over_ranks(
           r, [](const auto& k) { return Texts{k.window ? std::string(metrics::word(k.window->kind)) : "none"}; });
     }},
    {"classifier", [](const Report& r) { return std::to_string(r.classifier); }},
};

/// A metric whose change is a fact by itself, and how large a change is one.
struct Fact {
  const char* metric;
  double share_min;  ///< of the larger value; of ratios in points
};
constexpr Fact counted_facts[] = {
    {"launch.count_per_step", 0.02},     {"sync.count_per_step", 0.05},       {"alloc.count_per_step", 0.05},
    {"memcpy.h2d_bytes_per_step", 0.02}, {"memcpy.d2h_bytes_per_step", 0.02}, {"memcpy.pageable_share", 0.02},
    {"launch.kernel_p50", 0.05},
};

bool is_large(const Fact& fact, double base, double head, Unit unit) {
  const double change = std::abs(head - base);
  if (unit == Unit::ratio) return change > fact.share_min;
  return change > fact.share_min * std::max(std::abs(base), std::abs(head));
}

void add_fact(std::vector<std::string>& facts, const RunSide& base, const RunSide& head, const Fact& fact) {
  const auto before = base.value(fact.metric), after = head.value(fact.metric);
  const auto info = metric_info(fact.metric);
  if (!before || !after || !info || !is_large(fact, *before, *after, info->unit)) return;
  const HumanPair pair = human_pair(*before, *after, info->unit);
  facts.push_back(fmt::format("{} is {} instead of {}.", fact.metric, pair.to, pair.from));
}

/// Calls and sizes of every kind of communication.
void add_calls(std::vector<std::string>& facts, const RunSide& base, const RunSide& head) {
  for (const timeline::Collective kind : timeline::collectives)
    for (const char* of : {"count_per_step", "bytes_mean", "wait_share"}) {
      const std::string metric = fmt::format("{}.{}", timeline::word(kind), of);
      add_fact(facts, base, head, {metric.c_str(), 0.05});
    }
}

std::map<FindingCode, std::string> findings_of(const Report& report) {
  std::map<FindingCode, std::string> found;
  const auto add = [&](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) found.try_emplace(finding.code, finding.advice);
  };
  add(report.findings);
  for (const RankReport& rank : report.ranks) add(rank.findings);
  return found;
}

void add_findings(std::vector<std::string>& facts, const Report& base, const Report& head) {
  const auto before = findings_of(base), after = findings_of(head);
  for (const auto& [code, advice] : after)
    if (!before.contains(code))
      facts.push_back(fmt::format("The finding {} is new{}{}", word(code), advice.empty() ? "." : ": ", advice));
  for (const auto& [code, advice] : before)
    if (!after.contains(code)) facts.push_back(fmt::format("The finding {} is gone.", word(code)));
}

/// Kernels of `own` that the other run lacks, by time; nothing where its list was cut.
void add_kernels(std::vector<std::string>& facts, const Kernels& own, const Kernels& other, const char* what) {
  if (!other.complete) return;
  std::size_t count = 0;
  const std::pair<const std::string, KernelCalls>* largest = nullptr;
  for (const auto& kernel : own.by_name) {
    if (other.by_name.contains(kernel.first)) continue;
    ++count;
    if (largest == nullptr || kernel.second.time > largest->second.time) largest = &kernel;
  }
  if (count == 1) facts.push_back(fmt::format("One kernel {}: {}.", what, short_kernel(largest->first)));
  if (count > 1)
    facts.push_back(
        fmt::format("{} kernels {}; the longest of them is {}.", count, what, short_kernel(largest->first)));
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

}  // namespace

std::vector<EnvironmentChange> environment_changes(const Report& base, const Report& head) {
  std::vector<EnvironmentChange> changes;
  for (const EnvironmentKey& row : environment_keys) {
    EnvironmentChange change{row.key, row.of(base), row.of(head)};
    if (change.base != change.head) changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<std::string> facts_of(const RunSide& base, const RunSide& head) {
  std::vector<std::string> facts;
  add_calls(facts, base, head);
  for (const Fact& fact : counted_facts) add_fact(facts, base, head, fact);
  add_kernels(facts, head.kernels(), base.kernels(), "came");
  add_kernels(facts, base.kernels(), head.kernels(), "went");
  add_findings(facts, base.report(), head.report());
  for (const EnvironmentChange& change : environment_changes(base.report(), head.report()))
    facts.push_back(
        fmt::format("{} is {} instead of {}.", change.key, or_unknown(change.head), or_unknown(change.base)));
  if (facts.size() > facts_max) facts.resize(facts_max);
  return facts;
}

}  // namespace traceweir::gate
