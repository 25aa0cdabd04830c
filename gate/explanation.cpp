#include "gate/explanation.hpp"

#include "analyzer/core/words.hpp"

namespace traceweir::gate {
namespace {

constexpr Word<Cause> cause_words[] = {{Cause::idle_input, "idle.input"},
                                       {Cause::idle_sync, "idle.sync"},
                                       {Cause::idle_launch, "idle.launch"},
                                       {Cause::idle_dependency, "idle.dependency"},
                                       {Cause::idle_unknown, "idle.unknown"},
                                       {Cause::compute, "compute"},
                                       {Cause::graph, "graph"},
                                       {Cause::exposed_comm, "exposed_comm"},
                                       {Cause::exposed_memory, "exposed_memory"},
                                       {Cause::transfer, "transfer"},
                                       {Cause::wait, "wait"},
                                       {Cause::size_slower, "size_slower"},
                                       {Cause::size_mix, "size_mix"},
                                       {Cause::distribution, "distribution"},
                                       {Cause::other, "other"}};

}  // namespace

std::string_view word(Cause cause) { return word_of(cause_words, cause); }
std::optional<Cause> cause_of(std::string_view text) { return value_of(cause_words, text); }

}  // namespace traceweir::gate
