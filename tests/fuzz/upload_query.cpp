// What an upload says of its run. Shape: the query, and behind a line break header fields, one per line.
#include "server/api/upload_query.hpp"

#include <string>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "server/http/ascii.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

namespace {

http::Request request_of(std::string_view text, http::Query query) {
  http::Request request;
  request.query = std::move(query);
  for (const std::string_view line : http::split(text, '\n')) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view value = line.substr(std::min(colon + 1, line.size()));
    request.headers.push_back({http::lower(line.substr(0, colon)), std::string(http::trimmed(value))});
  }
  return request;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  auto query = http::Query::parse(text.substr(0, end));
  if (!query) return 0;
  const auto upload = api::upload_query(request_of(text.substr(end), *std::move(query)), {});
  if (!upload) return fuzz::check_refusal(upload.error()), 0;
  TRACEWEIR_ASSERT(api::is_name(upload->head.workload));
  for (const std::string* said : {&upload->head.branch, &upload->name, &upload->head.job})
    TRACEWEIR_ASSERT(clean_text(*said, said->size()) == *said);
  return 0;
}
