# Every target that is ours links traceweir_flags: warnings are errors, and sanitizers where the preset asks for them.
add_library(traceweir_flags INTERFACE)
target_compile_options(traceweir_flags INTERFACE
  -Wall -Wextra -Werror -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wcast-qual -Wnull-dereference -Wduplicated-cond -Wlogical-op -Wuseless-cast
  -fno-omit-frame-pointer -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
# g++ 12 reports false null dereferences and uses of uninitialised values in its own headers once it optimises.
target_compile_options(traceweir_flags INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized)
target_compile_definitions(traceweir_flags INTERFACE TRACEWEIR_VERSION="${PROJECT_VERSION}")
if(TRACEWEIR_SANITIZE)
  target_compile_options(traceweir_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(traceweir_flags INTERFACE -fsanitize=address,undefined)
endif()
