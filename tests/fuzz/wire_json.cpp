// Documents between client and service: lists of commits, acceptances, runs, verdicts and what they were judged by.
#include <string>

#include "analyzer/core/assert.hpp"
#include "server/wire/acceptance.hpp"
#include "server/wire/commit_list.hpp"
#include "server/wire/diff.hpp"
#include "server/wire/judge_inputs.hpp"
#include "server/wire/listing.hpp"
#include "server/wire/replay_document.hpp"
#include "server/wire/run_document.hpp"
#include "tests/fuzz/target.hpp"

using namespace traceweir;

namespace {

/// What `read` accepts is written and read again as the same.
template <typename Document>
void check(std::string_view text, Result<Document> (*read)(std::string_view)) {
  const Result<Document> document = read(text);
  if (!document) {
    TRACEWEIR_ASSERT(!document.error().message.empty());
    return;
  }
  const std::string once = wire::to_json(*document);
  const Result<Document> again = read(once);
  TRACEWEIR_ASSERT(again.has_value());
  TRACEWEIR_ASSERT(wire::to_json(*again) == once);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  check(text, &wire::commits_from_json);
  check(text, &wire::acceptance_request_from_json);
  check(text, &wire::acceptance_from_json);
  check(text, &wire::verdict_from_json);
  check(text, &wire::diff_from_json);
  check(text, &wire::history_from_json);
  check(text, &wire::inputs_from_json);
  static_cast<void>(wire::run_from_json(text));
  static_cast<void>(wire::runs_from_json(text));
  static_cast<void>(wire::replay_from_json(text));
  return 0;
}
