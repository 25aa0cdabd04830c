# Every third party, its minimum version, and why it is here. All are Debian 12 packages (`./dev setup` installs them);
# the versions are what that release carries and what the tests run on.
find_package(Threads REQUIRED)
# tl::expected: errors as values; std::expected is not in g++ 12.
find_package(tl-expected 1.0 REQUIRED)
# nlohmann_json: the API's and the report's JSON, both ways.
find_package(nlohmann_json 3.11 REQUIRED)
# simdjson: Kineto traces; the only reader that keeps up with 500 MB files.
find_package(simdjson 3.0 REQUIRED)
# zlib: gzip members of traces.
find_package(ZLIB 1.2 REQUIRED)
# ISA-L: the same, three times as fast. Where it is absent, or with -DTRACEWEIR_ISAL=OFF, zlib does it.
option(TRACEWEIR_ISAL "inflate gzip by ISA-L where it is installed" ON)
find_path(isal_headers isa-l/igzip_lib.h)
find_library(isal_library isal) # 2.30; the package says no version to cmake
add_library(traceweir_isal INTERFACE)
if(TRACEWEIR_ISAL AND isal_headers AND isal_library)
  target_compile_definitions(traceweir_isal INTERFACE TRACEWEIR_HAS_ISAL)
  target_include_directories(traceweir_isal SYSTEM INTERFACE ${isal_headers})
  target_link_libraries(traceweir_isal INTERFACE ${isal_library})
endif()
# zstd: traces compressed with it.
find_package(zstd 1.5 REQUIRED)
# SQLite: Nsight Systems exports (C API: hardened opening, hot loop) and, through SQLiteCpp, the embedded store.
find_package(SQLite3 3.40 REQUIRED)
find_package(SQLiteCpp 3.2 REQUIRED)
# libpqxx: the Postgres store. 6.4 has a pkg-config file only; the source keeps to what 6.4 and 7.x have in common.
find_package(PkgConfig REQUIRED)
pkg_check_modules(libpqxx REQUIRED IMPORTED_TARGET libpqxx>=6.4)
# Boost: Beast and Asio (HTTP), URL (targets and queries), Math (Student's t, normal). 1.81 is the first with Boost.URL.
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS url)
# OpenSSL: SHA-256, random token secrets, constant-time compare.
find_package(OpenSSL 3.0 REQUIRED)
# toml++: the policy file and the service's configuration.
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus>=3.0)
# libseccomp: the filter of the analysing child's system calls, by name and for every architecture.
pkg_check_modules(libseccomp REQUIRED IMPORTED_TARGET libseccomp>=2.5)
# fmt: text formatting; std::format is not in g++ 12.
find_package(fmt 9.1 REQUIRED)
# spdlog: the service's log.
find_package(spdlog 1.10 REQUIRED)
# prometheus-cpp (core): counters, histograms and their text, GET /metrics.
find_package(prometheus-cpp REQUIRED) # 1.0; the package says no version
# CLI11: command lines with help texts.
find_package(CLI11 2.1 REQUIRED)
# Node >= 18 and npm: the dashboard, bundled at build time (embed_web.cmake); its few packages and why: server/web/package.json.
# doctest: all C++ tests; rapidcheck: property tests.
if(TRACEWEIR_TESTS)
  find_package(doctest 2.4 REQUIRED)
  include(${doctest_DIR}/doctest.cmake)
  find_package(rapidcheck REQUIRED)
endif()
