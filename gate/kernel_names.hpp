// For: one name for the variants of a kernel, so that two builds or two autotuned runs can be compared.
// Not for: which collective a kernel is (analyzer/ingest).
#pragma once

#include <string>
#include <string_view>

namespace traceweir::gate {

/// The name without return type, parameters and anonymous namespaces; numbers inside template arguments are `N`, and
/// numbers at the end are left out: `void f<128, float>(int)` is `f<N, float>`, `triton_poi_fused_add_12` is
/// `triton_poi_fused_add`.   Shape: never empty for a text that is not. Cost: O(n).
std::string normalised_kernel(std::string_view name);

/// What a sentence calls a normalised kernel: `f`, without template arguments and namespaces.
std::string_view short_kernel(std::string_view normalised);

}  // namespace traceweir::gate
