// Targets of requests: paths and queries. What is accepted, encoded again, is accepted as the same.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "server/http/query.hpp"
#include "server/http/target.hpp"
#include "server/wire/timestamp.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

namespace {

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  return out;
}

void check_path(std::string_view path) {
  const auto segments = http::path_segments(path);
  if (!segments) return fuzz::check_refusal(segments.error());
  std::string again;
  for (const std::string& segment : *segments) {
    TRACEWEIR_ASSERT(is_utf8(segment) && segment != "." && segment != "..");
    TRACEWEIR_ASSERT(segment.find_first_of("/\\\n\r") == std::string::npos);
    again += "/" + encoded(segment);
  }
  TRACEWEIR_ASSERT(http::path_segments(again.empty() ? "/" : again) == *segments);
}

void check_query(std::string_view text) {
  const auto query = http::Query::parse(text);
  if (!query) return fuzz::check_refusal(query.error());
  std::string again;
  for (const http::Query::Item& item : query->items()) {
    TRACEWEIR_ASSERT(is_utf8(item.key) && is_utf8(item.value) && !item.key.empty());
    again += "&" + encoded(item.key) + "=" + encoded(item.value);
    if (const auto time = wire::from_rfc3339(item.value))
      TRACEWEIR_ASSERT(wire::from_rfc3339(wire::to_rfc3339(*time)) == time);
  }
  const auto reread = http::Query::parse(again);
  TRACEWEIR_ASSERT(reread.has_value());
  TRACEWEIR_ASSERT(
      std::equal(reread->items().begin(), reread->items().end(), query->items().begin(), query->items().end()));
  static_cast<void>(query->with_prefix("env."));
  static_cast<void>(query->only({"commit", "branch", "env.*"}));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  const std::size_t mark = std::min(text.find('?'), text.size());
  check_path(text.substr(0, mark));
  check_query(text.substr(std::min(mark + 1, text.size())));
  TRACEWEIR_ASSERT(is_utf8(http::target_for_log(text)));
  return 0;
}
