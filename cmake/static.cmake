# The client as one file without shared libraries (preset `static`, `./dev dist`): where other machines train, there may be an older C
# library and nothing of ours. Everything comes from Debian's -dev packages; three libraries are in them as shared ones only and are
# compiled here: toml++ from its installed headers, fmt and simdjson from Debian's source packages of the installed versions
# (tools/dist/sources.py fetches them and gives the paths).
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
set(Boost_USE_STATIC_LIBS ON)

# traceweir_made_static(<imported target> <name> <source> [definition...]): the imported target is linked as an archive of <source>.
function(traceweir_made_static imported name source)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "the static client needs the source of ${name}; `./dev dist` fetches it")
  endif()
  add_library(${name}_static STATIC EXCLUDE_FROM_ALL ${source})
  target_include_directories(${name}_static PRIVATE $<TARGET_PROPERTY:${imported},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${name}_static PRIVATE ${ARGN})
  traceweir_linked_as(${imported} ${CMAKE_BINARY_DIR}/lib${name}_static.a)
  add_dependencies(${imported} ${name}_static)
endfunction()

# traceweir_linked_as(<imported target> <archive>): another file of the same library, whatever the configuration.
function(traceweir_linked_as imported archive)
  get_target_property(configurations ${imported} IMPORTED_CONFIGURATIONS)
  foreach(configuration ${configurations})
    set_target_properties(${imported} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive})
  endforeach()
endfunction()

# After dependencies.cmake has found everything.
macro(traceweir_link_statically)
  traceweir_made_static(fmt::fmt fmt ${TRACEWEIR_FMTLIB_SOURCE})
  traceweir_made_static(simdjson::simdjson simdjson ${TRACEWEIR_SIMDJSON_SOURCE} SIMDJSON_THREADS_ENABLED=1)
  find_library(zstd_archive NAMES libzstd.a REQUIRED)
  traceweir_linked_as(zstd::libzstd_shared ${zstd_archive})
  find_library(seccomp_archive NAMES libseccomp.a REQUIRED)
  set_target_properties(PkgConfig::libseccomp PROPERTIES INTERFACE_LINK_LIBRARIES ${seccomp_archive})
  file(WRITE ${CMAKE_BINARY_DIR}/tomlplusplus.cpp "#define TOML_IMPLEMENTATION\n#include <toml++/toml.h>\n")
  add_library(tomlplusplus_static STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/tomlplusplus.cpp)
  target_compile_definitions(tomlplusplus_static PRIVATE $<TARGET_PROPERTY:PkgConfig::tomlplusplus,INTERFACE_COMPILE_DEFINITIONS>)
  target_compile_options(tomlplusplus_static PRIVATE $<TARGET_PROPERTY:PkgConfig::tomlplusplus,INTERFACE_COMPILE_OPTIONS>)
  set_target_properties(PkgConfig::tomlplusplus PROPERTIES INTERFACE_LINK_LIBRARIES tomlplusplus_static)
endmacro()
