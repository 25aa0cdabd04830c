# traceweir_embed_migrations(<target> <engine>)
# Puts schema/<engine>/V*.sql into <target> as `store::<engine>_migrations` (declared in server/store/migrate.hpp), with
# the SHA-256 of each file: the programs carry their schema and need no files beside them. Adding a migration needs no
# list to be edited. This file is the function and, run by `cmake -P`, the generator.
function(traceweir_embed_migrations target engine)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schema/${engine}/V*.sql)
  set(generator ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${engine}_migrations.cpp)
  add_custom_command(OUTPUT ${output} DEPENDS ${files} ${generator} VERBATIM
    COMMAND ${CMAKE_COMMAND} -Dengine=${engine} -Dfolder=${CMAKE_SOURCE_DIR}/schema/${engine} -Doutput=${output} -P ${generator}
    COMMENT "Embedding schema/${engine}")
  target_sources(${target} PRIVATE ${output})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

file(GLOB files ${folder}/V*.sql)
list(SORT files COMPARE NATURAL)
set(rows "")
set(expected 1)
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  if(NOT name MATCHES "^V([0-9][0-9][0-9])__[a-z0-9_]+\\.sql$")
    message(FATAL_ERROR "${file}: a migration is named V001__what_it_does.sql")
  endif()
  math(EXPR version "1${CMAKE_MATCH_1} - 1000")
  if(NOT version EQUAL expected)
    message(FATAL_ERROR "${file}: version ${expected} is missing; migrations are numbered without gaps")
  endif()
  math(EXPR expected "${expected} + 1")
  file(READ ${file} sql)
  file(SHA256 ${file} sha256)
  string(APPEND rows "    {${version}, \"${name}\", \"${sha256}\", R\"migration(${sql})migration\"},\n")
endforeach()
file(WRITE ${output} "// Made by cmake/embed_sql.cmake from schema/${engine}.
#include \"server/store/migrate.hpp\"

namespace traceweir::store {
namespace {

constexpr Migration ${engine}_rows[] = {
${rows}};

}  // namespace

std::span<const Migration> ${engine}_migrations() { return ${engine}_rows; }

}  // namespace traceweir::store
")
