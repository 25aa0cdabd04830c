#include "analyzer/ingest/kineto_message.hpp"

#include <algorithm>

#include "analyzer/ingest/collectives.hpp"

namespace traceweir::ingest {
namespace {

using timeline::Collective;

std::int64_t elements_of(Collective kind, const MessageFacts& facts) {
  switch (kind) {
    case Collective::allgather:
      return facts.out_elements;
    case Collective::reducescatter:
      return facts.in_elements;
    // Send and receive fill one side only; the others have the same on both, where both are stated.
    case Collective::allreduce:
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::alltoall:
    case Collective::sendrecv:
    case Collective::other:
      break;
  }
  return std::max(facts.in_elements, facts.out_elements);
}

}  // namespace

std::int64_t message_bytes(Collective kind, const MessageFacts& facts) {
  std::int64_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(elements_of(kind, facts), dtype_bytes(facts.dtype), &bytes);
  return overflow ? 0 : std::max<std::int64_t>(0, bytes);
}

}  // namespace traceweir::ingest
