# The REST contract (YAML, with comments, for people) becomes part of the program as JSON. PyYAML reads it: no C++ program here
# needs YAML, so the build does that once.
function(traceweir_embed_contract target)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  set(source ${CMAKE_SOURCE_DIR}/schema/http/openapi.yaml)
  set(tool ${CMAKE_SOURCE_DIR}/tools/openapi_json.py)
  set(made ${CMAKE_BINARY_DIR}/openapi.cpp)
  add_custom_command(OUTPUT ${made} COMMAND ${Python3_EXECUTABLE} ${tool} ${source} ${made}
    DEPENDS ${source} ${tool} ${CMAKE_SOURCE_DIR}/schema/report.schema.json VERBATIM)
  target_sources(${target} PRIVATE ${made})
endfunction()
