# Precompiled headers: what most files include is parsed once per group instead of once per file.
# Sources still include everything they use: the preset `dev` is made without this file (TRACEWEIR_PCH=OFF).
#
# traceweir_precompiled(<target> <group>) with group `base` (rooms), `net` (rooms around Asio), `test`.
set(traceweir_base_headers <algorithm> <array> <chrono> <filesystem> <functional> <map> <memory> <optional> <span>
  <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp> <nlohmann/json.hpp>)
set(traceweir_net_headers ${traceweir_base_headers} <boost/asio/any_io_executor.hpp> <boost/asio/async_result.hpp>
  <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp> <boost/asio/io_context.hpp> <boost/asio/ip/tcp.hpp>
  <boost/asio/steady_timer.hpp> <boost/asio/thread_pool.hpp> <boost/asio/use_awaitable.hpp>)
set(traceweir_test_headers ${traceweir_base_headers} <doctest/doctest.h>)

function(traceweir_precompiled target group)
  if(NOT TRACEWEIR_PCH)
    return()
  endif()
  set(carrier traceweir_pch_${group})
  if(NOT TARGET ${carrier})
    file(WRITE ${CMAKE_BINARY_DIR}/pch_${group}.cpp "// Carries the precompiled headers of a group.\n")
    add_library(${carrier} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/pch_${group}.cpp)
    target_link_libraries(${carrier} PRIVATE traceweir_flags tl::expected fmt::fmt nlohmann_json::nlohmann_json
      Boost::headers Threads::Threads)
    if(group STREQUAL test)
      target_link_libraries(${carrier} PRIVATE doctest::doctest)
      target_compile_options(${carrier} PRIVATE ${traceweir_test_options})
    endif()
    target_precompile_headers(${carrier} PRIVATE ${traceweir_${group}_headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${carrier})
endfunction()
