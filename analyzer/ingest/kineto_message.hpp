// For: the size of a collective's message from its metadata, as nccl-tests counts it. Not for: bandwidth.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// What the metadata of a collective state. 0 and empty: nothing.
struct MessageFacts {
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::string_view dtype;
};

/// Bytes of the whole buffer: all-gather by its output, reduce-scatter by its input.
/// Units: bytes; 0 where the facts do not say, are negative or do not fit.
/// Source: nccl-tests, performance notes; spec of formats, section 6.
std::int64_t message_bytes(timeline::Collective kind, const MessageFacts& facts);

}  // namespace traceweir::ingest
