// For: a verdict that was judged again, beside the one that is stored: where they differ, and the answer of …/replay,
// both ways. Not for: judging (server/pipeline), what the judge was given (judge_inputs.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/wire/json.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::wire {

/// How equal two verdicts have to be.
enum class Sameness {
  to_the_bit,    ///< of one build: everything that the judge says
  what_it_says,  ///< of different builds: outcomes and reasons
};

/// One sentence per place where the stored verdict is not the one that the judge gives now; empty: they are the same.
/// What others than the judge add to a document does not count. Shape: both are verdict documents.
std::vector<std::string> differences_of(const Json& stored, const Json& now, Sameness sameness);

struct ReplayDocument {
  std::string run;
  std::string build_stored, build_now;
  std::string stored_json;               ///< the document as it is stored; empty: it cannot be read
  std::string now_json;                  ///< empty: it cannot be judged again
  std::vector<std::string> differences;  ///< none: it is the same
};
std::string to_json(const ReplayDocument& document);

/// What the client needs of it.
struct ReplayAnswer {
  std::string run, build_stored, build_now;
  bool same = false;
  std::optional<VerdictDocument> stored, now;  ///< nothing where there is none that can be read
  std::vector<std::string> differences;
};
/// Errors: bad_body, naming the key.
Result<ReplayAnswer> replay_from_json(std::string_view text);

}  // namespace traceweir::wire
