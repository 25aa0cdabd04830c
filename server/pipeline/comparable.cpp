#include "server/pipeline/comparable.hpp"

#include <fmt/format.h>

#include <set>

namespace traceweir::pipeline {
namespace {

/// The distinct non-empty values of a field over the ranks, in order, joined: one text per class.
template <typename Field>
std::string over_ranks(const report::Report& report, Field field) {
  std::set<std::string> values;
  for (const report::RankReport& rank : report.ranks)
    for (const std::string& value : field(rank))
      if (!value.empty()) values.insert(value);
  return fmt::format("{}", fmt::join(values, "+"));
}

using Values = std::vector<std::string>;

struct Fact {
  std::string_view name;
  std::string (*of)(const report::Report&);
};

/// The facts that a trace itself tells. Everything else in `match` is an --env key of the upload.
constexpr Fact facts[] = {
    {"gpu",
     [](const report::Report& r) { return over_ranks(r, [](const auto& rank) { return rank.environment.gpus; }); }},
    {"gpu_count",
     [](const report::Report& r) {
       std::int64_t count = 0;
       for (const auto& rank : r.ranks) count += rank.environment.gpu_count;
       return std::to_string(count);
     }},
    {"world_size",
     [](const report::Report& r) {
       return over_ranks(
           r, [](const auto& rank) { return Values{rank.world_size == 0 ? "" : std::to_string(rank.world_size)}; });
     }},
    {"driver",
     [](const report::Report& r) { return over_ranks(r, [](const auto& k) { return Values{k.environment.driver}; }); }},
    {"cuda",
     [](const report::Report& r) { return over_ranks(r, [](const auto& k) { return Values{k.environment.cuda}; }); }},
    {"nccl",
     [](const report::Report& r) { return over_ranks(r, [](const auto& k) { return Values{k.environment.nccl}; }); }},
    {"framework",
     [](const report::Report& r) {
       return over_ranks(r, [](const auto& k) { return Values{k.environment.framework}; });
     }},
};

/// How a trace was taken and read is always part of the class.
constexpr Fact reading[] = {
    {"window",
     [](const report::Report& r) {
       return over_ranks(
           r, [](const auto& k) { return Values{k.window ? std::string(metrics::word(k.window->kind)) : "none"}; });
     }},
    {"family",
     [](const report::Report& r) {
       return over_ranks(r, [](const auto& k) { return Values{k.trace.format.substr(0, k.trace.format.find('_'))}; });
     }},
    {"graph",
     [](const report::Report& r) {
       return over_ranks(r, [](const auto& k) { return Values{k.environment.graph_mode}; });
     }},
    {"ranks", [](const report::Report& r) { return std::to_string(r.ranks.size()); }},
};

/// A value of an upload could hold the separators: they are escaped, so that two classes never read the same.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == ';' || c == '=' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string value_of(std::string_view name, const report::Report& report,
                     const std::map<std::string, std::string>& environment) {
  for (const Fact& fact : facts)
    if (fact.name == name) return fact.of(report);
  const auto it = environment.find(std::string(name));
  return it == environment.end() ? "" : it->second;
}

}  // namespace

std::string comparable_key(const report::Report& report, const std::map<std::string, std::string>& environment,
                           const std::vector<std::string>& match) {
  std::vector<std::string> parts;
  for (const std::string& name : match)
    parts.push_back(fmt::format("{}={}", escaped(name), escaped(value_of(name, report, environment))));
  for (const Fact& fact : reading) parts.push_back(fmt::format("{}={}", fact.name, escaped(fact.of(report))));
  return fmt::format("{}", fmt::join(parts, ";"));
}

}  // namespace traceweir::pipeline
