# Tests are compiled for speed of compiling: what they call is optimised as it is shipped.
set(traceweir_test_options -O0)

# traceweir_together(<target> <pieces>)
# The sources are compiled in one piece, or in so many, in the order of the alphabet: half the time of compiling each by
# itself. Names, also those of unnamed namespaces, are then to be unique in the target. The preset `dev` compiles each
# file by itself.
function(traceweir_together target pieces)
  if(NOT TRACEWEIR_PCH)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  math(EXPR files_of_a_piece "(${count} + ${pieces} - 1) / ${pieces}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files_of_a_piece})
  # In a file that includes sources, what was local to one looks like something that headers may not have.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()

# traceweir_room(<folder> [ROOMS <folder>...] [LIBRARIES <target>...] [PRECOMPILED base|net] [PIECES <n> | APART])
# Makes the static library of a room from every .cpp in its folder (main.cpp excepted), so that adding a file needs no
# list to be edited. ROOMS are the rooms that it may include; LIBRARIES are third parties.
# PIECES: more than one, for a large room (traceweir_together). APART: each file by itself, where time counts: how much
# the compiler inlines is a share of what it sees at once, so that hot loops get less of it in a large piece.
function(traceweir_room folder)
  cmake_parse_arguments(arg "APART" "PRECOMPILED;PIECES" "ROOMS;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" target room_${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(LENGTH sources count)
  if(count EQUAL 0)
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    if(arg_PRECOMPILED)
      traceweir_precompiled(${target} ${arg_PRECOMPILED})
    endif()
    if(NOT arg_PIECES)
      set(arg_PIECES 1)
    endif()
    if(NOT arg_APART)
      traceweir_together(${target} ${arg_PIECES})
    endif()
  endif()
  target_include_directories(${target} ${scope} ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} ${scope} traceweir_flags ${arg_LIBRARIES})
  foreach(room ${arg_ROOMS})
    string(REPLACE "/" "_" needed room_${room})
    target_link_libraries(${target} ${scope} ${needed})
  endforeach()
endfunction()

# Every test program, and nothing that only ships: tests that run the shipped programs run the release's.
add_custom_target(test_programs)

set(traceweir_test_seconds_max 240)
if(TRACEWEIR_SANITIZE OR TRACEWEIR_SANITIZE_THREAD)
  set(traceweir_test_seconds_max 960) # several times as slow
endif()

# traceweir_test(<name> LAYER <layer> SOURCES <file>... [ROOMS <folder>...] [LIBRARIES <target>...] [PIECES <n>] [OPTIMISED])
# Makes a doctest program and registers each of its cases with ctest under the label of its layer.
# OPTIMISED: for one that runs for long. Of templates that both instantiate, the linker takes the test's.
function(traceweir_test name)
  cmake_parse_arguments(arg "OPTIMISED" "LAYER;PIECES" "SOURCES;ROOMS;LIBRARIES;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(NOT arg_PIECES)
    set(arg_PIECES 1)
  endif()
  traceweir_together(${name} ${arg_PIECES})
  if(arg_OPTIMISED)
    traceweir_precompiled(${name} base)
  else()
    target_compile_options(${name} PRIVATE ${traceweir_test_options})
    traceweir_precompiled(${name} test)
  endif()
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE traceweir_flags doctest::doctest traceweir_test_main ${arg_LIBRARIES})
  foreach(room ${arg_ROOMS})
    string(REPLACE "/" "_" needed room_${room})
    target_link_libraries(${name} PRIVATE ${needed})
  endforeach()
  add_dependencies(test_programs ${name})
  doctest_discover_tests(${name} TEST_PREFIX "${arg_LAYER}: " WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    PROPERTIES LABELS ${arg_LAYER} TIMEOUT ${traceweir_test_seconds_max})
endfunction()
