#include "analyzer/ingest/collectives.hpp"

#include <string>

#include "analyzer/core/ascii.hpp"
#include "analyzer/ingest/kernel_name.hpp"

namespace traceweir::ingest {
namespace {

using timeline::Collective;

/// `_reduce_scatter_base` → `reducescatterbase`: libraries do not agree on case and separators.
std::string folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text)
    if (c != '_' && c != '-' && c != ' ') out += lower(c);
  return out;
}

/// A word that begins the name of an operation. The longer of two that share their beginning comes first.
struct KindWord {
  std::string_view word;
  Collective kind;
};
constexpr KindWord kind_words[] = {
    {"allreduce", Collective::allreduce},
    {"reducescatter", Collective::reducescatter},
    {"reduce", Collective::reduce},
    {"allgather", Collective::allgather},
    {"alltoall", Collective::alltoall},
    {"broadcast", Collective::broadcast},
    {"sendrecv", Collective::sendrecv},
    {"send", Collective::sendrecv},
    {"recv", Collective::sendrecv},
    // Known operations that have no kind of their own: a barrier moves nothing, so that it must not count as an
    // all-reduce although NCCL runs one.
    {"gather", Collective::other},
    {"scatter", Collective::other},
    {"barrier", Collective::other},
};

std::optional<Collective> kind_that_begins(std::string_view folded_text) {
  for (const KindWord& row : kind_words)
    if (folded_text.starts_with(row.word)) return row.kind;
  return std::nullopt;
}

/// The kind whose word stands first anywhere in the text.
Collective kind_inside(std::string_view folded_text) {
  for (; !folded_text.empty(); folded_text.remove_prefix(1))
    if (const auto kind = kind_that_begins(folded_text)) return *kind;
  return Collective::other;
}

// What a row's identifier says about its kind, once the row has matched.
Collective word_behind(std::string_view rest) { return kind_that_begins(folded(rest)).value_or(Collective::other); }
Collective word_inside(std::string_view rest) { return kind_inside(folded(rest)); }
Collective is_allreduce(std::string_view /*rest*/) { return Collective::allreduce; }
Collective is_allgather(std::string_view /*rest*/) { return Collective::allgather; }
Collective is_reducescatter(std::string_view /*rest*/) { return Collective::reducescatter; }
Collective is_alltoall(std::string_view /*rest*/) { return Collective::alltoall; }
Collective is_other(std::string_view /*rest*/) { return Collective::other; }

/// TransformerEngine: `userbuffers_fp16_sum_inplace_gpu_rr_rs_oop`: the suffix tells which half of an all-reduce it is.
Collective userbuffers_kind(std::string_view rest) {
  const std::string parts = "_" + std::string(rest) + "_";
  if (parts.find("_ag_") != std::string::npos) return Collective::allgather;
  if (parts.find("_rs_") != std::string::npos) return Collective::reducescatter;
  return Collective::allreduce;
}

/// TransformerEngine: `kuserbuffers_pushsend`, `kuserbuffers_pushrecv`, `kuserbuffers_alltoall`.
Collective pushed_kind(std::string_view rest) {
  return rest.starts_with("push") ? word_behind(rest.substr(4)) : word_behind(rest);
}

/// DeepEP: dispatch and combine exchange tokens between experts; the rest (`notify_dispatch`) prepares them.
Collective expert_kind(std::string_view identifier) {
  const bool exchanges = identifier.starts_with("dispatch") || identifier.starts_with("combine");
  return exchanges ? Collective::alltoall : Collective::other;
}

/// One family of communication kernels: the identifier begins with `prefix` and, where given, contains `with`.
struct Family {
  std::string_view prefix;
  std::string_view with;
  Collective (*kind)(std::string_view rest);  ///< `rest`: what follows the prefix
};
constexpr Family families[] = {
    // NCCL, newest first. What follows the collective (algorithm, protocol, op) is not a fact and not read.
    {"ncclSymkDevKernel_", "", &word_behind},
    {"ncclSymDevKernel_", "", &word_behind},
    {"ncclDevKernel_", "", &word_behind},
    {"ncclKernel_", "", &word_behind},
    {"nccl", "Kernel", &word_behind},        // 2.3 – 2.7: ncclAllReduceRingLLKernel_sum_f32; and kernels yet unknown
    {"oneRankReduce", "", &is_other},        // a group of one: no network, whatever the operation was
    {"AllReduceKernel", "", &is_allreduce},  // NCCL 1.x; its BroadcastKernel and ReduceKernel are names of others too
    {"AllGatherKernel", "", &is_allgather},
    {"ReduceScatterKernel", "", &is_reducescatter},
    // RCCL
    {"rccl", "Kernel", &word_behind},
    // MSCCL and MSCCL++
    {"msccl", "", &word_inside},
    // vLLM, SGLang, aiter
    {"cross_device_reduce_", "", &is_allreduce},
    {"allreduce_prototype_", "", &is_allreduce},
    // PyTorch symmetric memory
    {"one_shot_all_reduce_", "", &is_allreduce},
    {"two_shot_all_reduce_", "", &is_allreduce},
    {"multimem_", "", &word_inside},
    // FlashInfer, TensorRT-LLM: fused with norms and quantisation, communication all the same
    {"allreduce_fusion_kernel", "", &is_allreduce},
    {"moefinalize_allreduce_fusion_kernel", "", &is_allreduce},
    {"moereduce_allreduce_fusion_kernel", "", &is_allreduce},
    {"oneshotAllreduce", "", &is_allreduce},
    {"twoshotAllreduce", "", &is_allreduce},
    {"oneShotAllReduce", "", &is_allreduce},
    {"twoShotAllReduce", "", &is_allreduce},
    // TransformerEngine
    {"userbuffers_", "", &userbuffers_kind},
    {"kuserbuffers_", "", &pushed_kind},
    // NVSHMEM, oneCCL, HCCL
    {"nvshmem", "", &word_inside},
    {"oneccl_", "", &word_inside},
    {"hccl", "", &word_inside},
    // dlslime
    {"intranode_alltoall", "", &is_alltoall},
};

/// Families that are told by their namespace, as their identifiers are everyday words.
struct Namespace {
  std::string_view scope;  ///< one component of the scope
  Collective (*kind)(std::string_view identifier);
};
constexpr Namespace namespaces[] = {
    {"deep_ep", &expert_kind},
    {"mscclpp", &word_inside},
    {"nvshmem", &word_inside},
};

/// `_ZN7deep_ep9intranode8` has `7deep_ep`.
bool has_mangled_component(std::string_view scope, std::string_view component) {
  const std::string part = std::to_string(component.size()) + std::string(component);
  for (std::size_t at = scope.find(part); at != std::string_view::npos; at = scope.find(part, at + 1))
    if (at > 0 && (scope[at - 1] < '0' || scope[at - 1] > '9')) return true;
  return false;
}

bool has_component(std::string_view scope, std::string_view component) {
  if (scope.starts_with("_Z")) return has_mangled_component(scope, component);
  for (std::size_t at = scope.find(component); at != std::string_view::npos; at = scope.find(component, at + 1)) {
    const std::string_view before = scope.substr(0, at);
    const bool begins = before.empty() || before.ends_with("::") || before.ends_with(' ');
    if (begins && scope.substr(at + component.size()).starts_with("::")) return true;
  }
  return false;
}

struct DtypeBytes {
  std::string_view word;
  std::int64_t bytes;
};
constexpr DtypeBytes dtypes[] = {
    {"float", 4},          {"half", 2},   {"bfloat16", 2}, {"double", 8}, {"int", 4},         {"long", 8},
    {"short", 2},          {"byte", 1},   {"char", 1},     {"bool", 1},   {"complexhalf", 4}, {"complexfloat", 8},
    {"complexdouble", 16}, {"uint16", 2}, {"uint32", 4},   {"uint64", 8},
};

}  // namespace

std::optional<Collective> collective_of_kernel(std::string_view kernel) {
  const KernelName name = kernel_name_of(kernel);
  for (const Family& family : families) {
    if (!name.identifier.starts_with(family.prefix)) continue;
    const std::string_view rest = name.identifier.substr(family.prefix.size());
    if (rest.find(family.with) != std::string_view::npos) return family.kind(rest);
  }
  for (const Namespace& row : namespaces)
    if (has_component(name.scope, row.scope)) return row.kind(name.identifier);
  return std::nullopt;
}

std::optional<Collective> collective_of_word(std::string_view word) { return kind_that_begins(folded(word)); }

std::int64_t dtype_bytes(std::string_view dtype) {
  const std::string word = folded(dtype);
  if (word.starts_with("float8")) return 1;
  for (const DtypeBytes& row : dtypes)
    if (row.word == word) return row.bytes;
  return 0;
}

}  // namespace traceweir::ingest
