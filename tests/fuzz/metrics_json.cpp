// Values that a job states itself.
#include "analyzer/ingest/stated_json.hpp"

#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::check_upload(fuzz::text_of(bytes, size), &ingest::read_stated_json);
  return 0;
}
