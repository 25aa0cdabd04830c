// For: the identifier inside the name of a kernel as profilers write it: a demangled signature, a mangled symbol or a
// plain name. Not for: what the identifier means (collectives.hpp).
#pragma once

#include <string_view>

namespace traceweir::ingest {

/// The parts of a kernel's name that say which function it is. Shape: parts of the text that was given.
struct KernelName {
  std::string_view scope;       ///< what stands before the identifier (`deep_ep::intranode::`); empty: nothing
  std::string_view identifier;  ///< `ncclDevKernel_AllReduce_Sum_f32_RING_LL`: no arguments, no template arguments
};

/// Takes `text` apart: return type, "(anonymous namespace)", template arguments, parameters, `_Z…` and `.kd` are left
/// out. Text of any other shape (a path, a sentence) has no identifier. Cost: O(n).
KernelName kernel_name_of(std::string_view text);

}  // namespace traceweir::ingest
