// For: what a project tolerates, parsed from TOML (.traceweir.toml) or built in. Grammar: docs/gate.md, section
// "policy". Not for: judging (judge.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/finding.hpp"
#include "analyzer/core/metric.hpp"

namespace traceweir::gate {

/// What a broken rule does.
enum class Level { fail, warn, info };
std::string_view word(Level level);
std::optional<Level> level_of(std::string_view word);

/// How the noise of a baseline is estimated. `automatic` is spelt "auto".
enum class Noise { automatic, mad, t, none };
std::string_view word(Noise noise);
std::optional<Noise> noise_of(std::string_view word);

/// A quantity as it was written, and its value in the metric's unit.
struct Amount {
  double value = 0;
  std::string text;  ///< "50 ms"
  Unit unit = {};    ///< of value; what a rule on `custom.NAME` says, checked against the run
};

/// How much worse than the baseline is tolerated.
struct Tolerance {
  enum class Kind { ratio, points };  ///< "10%" of the level, or "3pp" of a ratio
  Kind kind = Kind::ratio;
  double value = 0;  ///< 0.1 or 0.03
  std::string text;  ///< "10%", "3pp"
};

/// One rule. `metric` is an id, or a pattern with `*`.
struct Rule {
  std::string metric;
  std::optional<Amount> min, max;
  std::optional<Tolerance> worse_by;
  std::optional<Amount> at_least;
  Level level = Level::fail;
  std::int64_t confirm = 1;
  Noise noise = Noise::automatic;
  double sigmas = 3;
  std::optional<Better> direction;  ///< for metrics without a better side
  bool explicit_metric = true;      ///< named in a policy; false: built in, or matched by a wildcard
};

/// A finding as a rule.
struct FindingRule {
  FindingCode code;
  Level level = Level::fail;
};

/// How traces are read; empty: the analyzer's own rule.
struct TraceOptions {
  std::optional<std::string> steps;
  std::optional<std::int64_t> skip_steps;
  std::optional<std::string> window;
};

struct BaselineOptions {
  std::optional<std::string> branch;
  std::int64_t runs = 30;
  std::int64_t min_runs = 5;
  std::string pinned{};  ///< a tag, branch or run that is compared with too; empty: none
  std::string epoch{};   ///< `2026-11-01` or `2026-11-01T12:00:00Z`: nothing older counts; empty: no such date
};

struct Policy {
  std::string project, workload;  ///< empty: not stated
  TraceOptions trace;
  BaselineOptions baseline;
  std::vector<std::string> environment_match = {"gpu", "gpu_count", "world_size"};
  std::vector<Rule> rules;  ///< in the order of the file
  std::vector<FindingRule> findings;
  std::optional<double> gpu_hour;  ///< price of an hour of one GPU, in the project's currency
  std::string text;                ///< the TOML that it was parsed from; of the built-in policy too
};

/// A larger text is refused, and one with more rules: each is judged for each run, and each pattern is compared with
/// all that was measured.
inline constexpr std::size_t policy_bytes_max = std::size_t{64} << 10;
inline constexpr std::size_t policy_rules_max = 500;
inline constexpr std::size_t policy_patterns_max = 50;

/// Parses a policy.
/// Shape:  wildcard rules stay patterns; rules_for (below) expands them against what was measured.
/// Errors: bad_policy: unknown key or metric, wrong unit, `worse_by` without a better side, an unattainable rule.
///         The message names line and key.
Result<Policy> parse_policy(std::string_view toml);

/// The policy of a project that has none: gpu.utilization, gpu.idle (3pp), allreduce.time_mean,
/// comm.exposed_per_step (10%, 0.1 ms), step.time_p50 (5%).
const Policy& built_in_policy();

/// The policy's rules with wildcards expanded to metrics of the catalogue; an exact rule wins over a pattern, an
/// earlier pattern over a later one.
std::vector<Rule> rules_for(const Policy& policy);
/// The same, with patterns expanded to `measured` too: metrics named by the trace (`phase.NAME.share`).
std::vector<Rule> rules_for(const Policy& policy, std::span<const std::string> measured);

}  // namespace traceweir::gate
