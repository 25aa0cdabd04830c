// For: which program this is, exactly: what two verdicts have to have in common to be equal to the bit.
// Not for: the version that people see (analyzer/core/version.hpp).
#pragma once

#include <string>

namespace traceweir::app {

/// The version, the linker's id of this program, and what else its arithmetic depends on: the C library and whether the
/// processor has fused multiply-add. Shape: `0.1.0 3f2a91c0d1e2a4b5 glibc-2.36 fma`; without an id `unknown` in its
/// place.
std::string build_id();

}  // namespace traceweir::app
