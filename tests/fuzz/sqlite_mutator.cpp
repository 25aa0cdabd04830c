// libFuzzer's mutator of targets that read databases: half of its changes keep the shape of the file.
#include "tests/fuzz/mutator.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t size_max,
                                               unsigned int seed) {
  return traceweir::fuzz::mutated_in_place({bytes, size, size_max, seed}, &traceweir::fuzz::change_sqlite);
}
