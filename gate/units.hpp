// For: quantities with units, from the text of a policy and to the text of a sentence.
// Not for: the policy's grammar (policy.hpp).
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "analyzer/core/metric.hpp"
#include "gate/policy.hpp"

namespace traceweir::gate {

/// A limit: `50 ms`, `85%`, `16 MiB`, `12 GB/s`, `3`.
/// Units:  the value comes back in `unit`; decimal prefixes are exact (the text's exponent is moved, nothing is
///         multiplied), so that `89.1%` is the double 0.891.
/// Errors: bad_policy: no number, a number below 0, a unit that the metric does not have.
Result<Amount> parse_limit(std::string_view text, Unit unit);

/// An absolute step of a metric: as parse_limit, but a ratio's is given in `pp`.
/// Errors: bad_policy, as parse_limit.
Result<Amount> parse_step(std::string_view text, Unit unit);

/// A quantity of a metric of the job's own, whose unit only the run tells: what is written decides. A unit that we do
/// not know stays (`1200 tokens/s`). Errors: bad_policy: no number, no unit that could be one.
Result<Amount> parse_free(std::string_view text);

/// A tolerance: `10%` of the level, or for ratios `3pp`.
/// Errors: bad_policy: another unit, `pp` on a metric that is no ratio.
Result<Tolerance> parse_tolerance(std::string_view text, Unit unit);

/// For a person: `89.1 %`, `45.2 ms`, `1.50 MiB`, `12.3 GB/s`, `7`.
std::string human(double value, Unit unit);

/// Two values for a person, with enough digits to tell them apart where they differ.
struct HumanPair {
  std::string from, to;
};
HumanPair human_pair(double from, double to, Unit unit);

/// A change for a person, with its sign: `-21.1 pp` for ratios, `+15.6 %` of `level` for others, and where the level is
/// 0 the difference itself (`+2 ms`). What rounds to nothing has no sign: `0.0 pp`, `0 %`.
std::string human_delta(double delta, double level, Unit unit);

/// Whether human_delta shows the change as none.
bool rounds_to_nothing(double delta, double level, Unit unit);

/// `3pp` as `3 pp`, `10%` as `10 %`, `250us` as `250 µs`: a policy's quantity as sentences write it.
std::string spaced(std::string_view quantity);

}  // namespace traceweir::gate
