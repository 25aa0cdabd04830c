# The tables of docs/metrics.md become part of the client: one text for the page and for `traceweir metrics`.
function(traceweir_embed_metric_docs target)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  set(page ${CMAKE_SOURCE_DIR}/docs/metrics.md)
  set(tool ${CMAKE_SOURCE_DIR}/tools/metric_docs.py)
  set(made ${CMAKE_BINARY_DIR}/metric_docs.cpp)
  add_custom_command(OUTPUT ${made} COMMAND ${Python3_EXECUTABLE} ${tool} ${page} ${made} DEPENDS ${page} ${tool} VERBATIM)
  target_sources(${target} PRIVATE ${made})
endfunction()
