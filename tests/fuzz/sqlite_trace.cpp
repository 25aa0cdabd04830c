// Databases of Nsight Systems and of rocprofv3; sqlite_mutator.cpp changes them from inside.
#include "analyzer/ingest/sqlite_trace.hpp"

#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::check_upload(fuzz::text_of(bytes, size), &ingest::read_sqlite_trace);
  return 0;
}
