# The dashboard (server/web) becomes part of the service: bundled by Node at build time, embedded plain and gzip.
# Node >= 18 and npm are only needed here; OFF gives a service whose page says that it has no dashboard.
option(TRACEWEIR_WEB "build the dashboard into the service (needs Node and npm)" ON)
# npm's packages are installed once for all presets.
set(TRACEWEIR_WEB_WORK ${CMAKE_SOURCE_DIR}/build/web CACHE PATH "where the dashboard's npm packages are installed")

function(traceweir_embed_web target)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  set(tool ${CMAKE_SOURCE_DIR}/tools/embed_web.py)
  set(made ${CMAKE_BINARY_DIR}/web_files.cpp)
  set(web ${CMAKE_SOURCE_DIR}/server/web)
  if(TRACEWEIR_WEB)
    find_program(NODE_EXECUTABLE NAMES node nodejs)
    find_program(NPM_EXECUTABLE NAMES npm)
    if(NOT NODE_EXECUTABLE OR NOT NPM_EXECUTABLE)
      message(FATAL_ERROR "the dashboard needs Node 18 or newer and npm to be built; without them: -DTRACEWEIR_WEB=OFF")
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/* ${web}/*.json ${web}/index.html ${web}/icon.svg ${web}/build.mjs)
    set(folder ${CMAKE_BINARY_DIR}/web)
    set(bundling COMMAND ${NODE_EXECUTABLE} ${web}/build.mjs --work ${TRACEWEIR_WEB_WORK} --out ${folder})
  else()
    set(folder ${web}/unbuilt)
    set(sources ${folder}/index.html)
    set(bundling)
  endif()
  add_custom_command(OUTPUT ${made} ${bundling} COMMAND ${Python3_EXECUTABLE} ${tool} ${folder} ${made}
    DEPENDS ${sources} ${tool} VERBATIM COMMENT "Bundling the dashboard")
  target_sources(${target} PRIVATE ${made})
endfunction()
