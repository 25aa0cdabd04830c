// Traces of the PyTorch profiler: JSON text.
#include "analyzer/ingest/kineto_json.hpp"

#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::check_upload(fuzz::text_of(bytes, size), &ingest::read_kineto_json);
  return 0;
}
