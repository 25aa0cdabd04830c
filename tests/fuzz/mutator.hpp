// For: our changes as a mutator of libFuzzer's. Not for: builds without it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/mutate.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t size_max);

namespace traceweir::fuzz {

/// What libFuzzer hands to a mutator.
struct Mutation {
  std::uint8_t* bytes;
  std::size_t size, size_max;
  unsigned int seed;
};

/// Changes the bytes by libFuzzer's own ways or by one to three of ours. Shape: the new size.
inline std::size_t mutated_in_place(const Mutation& mutation, void (*change)(std::string&, Chance&)) {
  Chance chance(mutation.seed);
  if (chance.below(2) == 0) return LLVMFuzzerMutate(mutation.bytes, mutation.size, mutation.size_max);
  std::string text(reinterpret_cast<const char*>(mutation.bytes), mutation.size);
  for (std::size_t changes = 1 + chance.below(3); changes > 0; --changes) change(text, chance);
  const std::size_t size = std::min(text.size(), mutation.size_max);
  std::copy_n(text.begin(), size, reinterpret_cast<char*>(mutation.bytes));
  return size;
}

}  // namespace traceweir::fuzz
