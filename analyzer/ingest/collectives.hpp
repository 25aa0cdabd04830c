// For: names → kind of communication, as one versioned table (core/version.hpp: classifier_version).
// Not for: algorithm and protocol; they stand in names too, but are not facts (docs/formats).
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// The kind of the communication kernel called `kernel`; nothing when it is no communication; `other` when it is one of
/// which the name does not tell the kind (`ncclDevKernel_Generic`). The name around the identifier may lie
/// ("(anonymous namespace)", template arguments): only the identifier that matched the table counts.
/// Source: NCCL 1.x–2.28, RCCL, vLLM/SGLang/aiter, PyTorch symmetric memory, FlashInfer/TensorRT-LLM, TransformerEngine
///         userbuffers, DeepEP, NVSHMEM, MSCCL, oneCCL, HCCL; spec of formats, section 5.
std::optional<timeline::Collective> collective_of_kernel(std::string_view kernel);

/// The kind in a `Collective name` of Kineto metadata (`_allgather_base`, `all_to_allv`, …) or behind `nccl:` of an
/// annotation; nothing when the word is unknown.
std::optional<timeline::Collective> collective_of_word(std::string_view word);

/// Bytes of one element of a dtype as Kineto spells it (`Float`, `BFloat16`, `Float8_e4m3fn`); 0: unknown.
std::int64_t dtype_bytes(std::string_view dtype);

}  // namespace traceweir::ingest
