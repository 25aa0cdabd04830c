// What an object store answers: lists of objects, codes of errors, dates.
#include "server/s3/answers.hpp"

#include <string>

#include "analyzer/core/assert.hpp"
#include "tests/fuzz/target.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  for (const char* name : {"Code", "Message", "UploadId", "ETag"}) {
    const auto found = s3::element(text, name);
    TRACEWEIR_ASSERT(!found || found->size() <= size);
  }
  static_cast<void>(s3::time_of_list(text));
  static_cast<void>(s3::time_of_header(text));
  const auto listing = s3::listing_of(text);
  if (!listing) return 0;
  std::size_t told = listing->next.size();
  for (const s3::ListedObject& object : listing->objects) told += object.key.size();
  TRACEWEIR_ASSERT(told <= size);
  return 0;
}
