// Any file at all: the door finds out what it is, and takes off what it is packed in.
#include "analyzer/ingest/ingest.hpp"

#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::check_upload(fuzz::text_of(bytes, size), [](ingest::TraceInput& input) { return ingest::read_trace(input); });
  return 0;
}
