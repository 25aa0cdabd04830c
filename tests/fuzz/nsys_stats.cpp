// Tables that `nsys stats` prints: columns for people, CSV, JSON.
#include "analyzer/ingest/nsys_stats.hpp"

#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::check_upload(fuzz::text_of(bytes, size), &ingest::read_nsys_stats);
  return 0;
}
