// For: the shape of a fuzz target: one function that takes any bytes and ends the process where a promise is broken.
// replay_main.cpp calls it with seeds. Not for: what is promised (each target).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace traceweir::fuzz {

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace traceweir::fuzz
