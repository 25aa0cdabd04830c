// For: a run as POST, GET and `traceweir gate --json` give it, both ways. Source: the HTTP contract, docs/api.md.
// The service fills it from the store; the client reads it back. Not for: deciding anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"
#include "gate/verdict.hpp"
#include "server/wire/acceptance.hpp"
#include "server/wire/json.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::wire {

/// A verdict with what makes it replayable.
struct VerdictDocument {
  gate::Verdict verdict;
  std::string mode;           ///< `gate` or `observe`
  std::string policy_source;  ///< `sent`, `server`, `built_in`
  std::string policy_sha256;
};

/// Shape: one JSON object on one line, keys in the order of the contract.
std::string to_json(const VerdictDocument& document);
/// Of a document, or of a verdict as it is stored (judge_inputs.hpp). Errors: bad_body, naming the key.
Result<VerdictDocument> verdict_from_json(std::string_view text);
/// The same of a parsed document. Errors: bad_body, naming the key.
Result<VerdictDocument> verdict_of(const Json& json);

/// How far the ranks of a run of several uploads are.
struct RunRanks {
  struct Rejected {
    std::int64_t rank;
    Error error;
  };
  std::optional<std::int64_t> expected;         ///< nothing: what is sent
  std::vector<std::int64_t> received, missing;  ///< ascending
  std::vector<Rejected> rejected;               ///< each may be sent again
};

/// The raw trace of an upload: kept, or when and why it went.
struct TraceState {
  std::int64_t rank = 0, bytes = 0;
  std::string sha256;
  std::optional<Timestamp> removed_at;
  std::string removed_why;
  std::optional<Timestamp> kept_until;  ///< nothing: not known, or for ever
};

struct RunDocument {
  std::string id, project, workload, commit, branch, base_branch, head, base;
  std::optional<std::int64_t> pull_request;
  bool fork = false;
  std::int64_t attempt = 1;
  std::string job, matrix, job_url;
  std::string status;
  bool superseded = false;  ///< a higher attempt of the same job was judged
  Timestamp uploaded_at{};
  std::map<std::string, std::string> environment;
  std::vector<std::string> warnings;
  std::optional<Error> error;                   ///< of a rejected run
  std::optional<RunRanks> ranks;                ///< of a run of several uploads
  std::string verdict_json;                     ///< empty: none yet
  std::string report_json;                      ///< as stored; empty: none, or left out (lists)
  std::vector<AcceptanceDocument> acceptances;  ///< newest first; left out of lists
  std::vector<TraceState> traces;               ///< left out of lists
};

/// Where the run is to be found. Shape: paths below the service's root.
std::string run_path(std::string_view project, std::string_view run);
std::string run_page(std::string_view project, std::string_view run);

/// Whether lists carry a run's documents.
enum class Detail { whole, head_only };
std::string to_json(const RunDocument& document, Detail detail);

/// What the client needs of a run document. Unknown keys are ignored: a newer service may say more.
struct RunAnswer {
  std::string id, project, workload, commit, branch, status;
  std::int64_t attempt = 1;
  bool superseded = false;
  std::optional<VerdictDocument> verdict;
  std::optional<Error> error;
  bool let_pass = false;  ///< whoever asked goes on in spite of the error
  std::optional<RunRanks> ranks;
  std::vector<std::string> warnings;
  std::vector<AcceptanceDocument> acceptances;  ///< newest first, undone ones too; empty in lists
  std::string self, html;
};
/// Whether the error says nothing about the run: the service, or the way to it, was at fault, and there is no verdict.
bool is_away(const Error& error);

/// Errors: bad_body, naming the key.
Result<RunAnswer> run_from_json(std::string_view text);
/// The same of a parsed document. Errors: bad_body, naming the key.
Result<RunAnswer> run_of(const Json& json);

/// The report inside a run document. Errors: bad_body, where there is none or it breaks its contract.
Result<report::Report> report_in(std::string_view run_text);

}  // namespace traceweir::wire
