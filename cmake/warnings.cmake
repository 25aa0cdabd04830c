# Every target that is ours links traceweir_flags: warnings are errors, and sanitizers where the preset asks for them.
add_library(traceweir_flags INTERFACE)
target_compile_definitions(traceweir_flags INTERFACE TRACEWEIR_VERSION="${PROJECT_VERSION}"
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION) # asio.cmake
if(TRACEWEIR_FUZZ)
  # clang is here for libFuzzer alone: warnings are g++'s to judge. Debian's clang 14 has coroutines and does not say so, and its
  # check of function pointers does not go together with them.
  target_compile_options(traceweir_flags INTERFACE -w -D__cpp_impl_coroutine=201902L -fno-omit-frame-pointer
    -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize=function -fno-sanitize-recover=all)
  target_link_options(traceweir_flags INTERFACE -fsanitize=address,undefined)
  return()
endif()
target_compile_options(traceweir_flags INTERFACE
  -Wall -Wextra -Werror -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wcast-qual -Wduplicated-cond -Wlogical-op -Wuseless-cast
  -fno-omit-frame-pointer -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
# g++ 12 reports false ones in its own headers once it optimises (std::string, coroutine frames).
target_compile_options(traceweir_flags INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized -Wno-array-bounds
  -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict -Wno-mismatched-new-delete)
if(TRACEWEIR_SANITIZE)
  target_compile_options(traceweir_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(traceweir_flags INTERFACE -fsanitize=address,undefined)
endif()
# The thread sanitizer knows no fences. Asio makes its own around handlers that were handed over under a lock, which is
# enough; so it can do without, and everything else that uses one is an error.
if(TRACEWEIR_SANITIZE_THREAD)
  target_compile_options(traceweir_flags INTERFACE -fsanitize=thread)
  target_compile_definitions(traceweir_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  target_link_options(traceweir_flags INTERFACE -fsanitize=thread)
endif()
