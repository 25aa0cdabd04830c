// For: what the service and its analysing child agree on beyond the command line, said once for both ends.
// Not for: what the child says of a trace (server/analysis).
//
// `traceweir analyze --json --child [--window W] [--steps G] [--skip N] -- - …` is started with a few descriptors and
// nothing else: no path, no folder, no environment. Before it reads a byte of its input it gives up everything but
// these descriptors (sandbox.hpp) and says so in one line on `word`. Who started it believes no report without it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sandbox.hpp"

namespace traceweir::sandbox {

/// The child's descriptors by number.
inline constexpr int input_descriptor = 0;     ///< the (first) trace: a file, or a pipe that brings it
inline constexpr int report_descriptor = 1;    ///< the report, or the refusal
inline constexpr int talk_descriptor = 2;      ///< last words
inline constexpr int word_descriptor = 3;      ///< the line about the sandbox; closed behind it
inline constexpr int scratch_descriptor = 4;   ///< an empty file to unpack into, without a name; may be absent
inline constexpr int further_descriptors = 5;  ///< of each further trace an input and a scratch, in turns

/// The descriptors of trace i, one for each `-` on the command line. Shape: i = 0, 1, …
constexpr int input_of(int i) { return i == 0 ? input_descriptor : further_descriptors + 2 * (i - 1); }
constexpr int scratch_of(int i) { return i == 0 ? scratch_descriptor : input_of(i) + 1; }

/// `trace.name` in the child's report, and before what it says of one trace of several: it does not know what the
/// client called the file. Shape: `-`, `-1`, `-2`, …
std::string input_name(int i);

/// The line: `sandbox seccomp=1 landlock=7`.
std::string to_line(const Parts& parts);
/// Nothing: it is no such line.
std::optional<Parts> parts_of(std::string_view line);

}  // namespace traceweir::sandbox
