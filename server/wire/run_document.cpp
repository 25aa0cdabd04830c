#include "server/wire/run_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "server/wire/json.hpp"

namespace traceweir::wire {
namespace {

Json error_json(const std::optional<Error>& error) {
  if (!error) return nullptr;
  return {{"type", word(error->code)}, {"detail", error->message}};
}

Json ranks_json(const std::optional<RunRanks>& ranks) {
  if (!ranks) return nullptr;
  Json rejected = Json::array();
  for (const RunRanks::Rejected& row : ranks->rejected)
    rejected.push_back({{"rank", row.rank}, {"error", error_json(row.error)}});
  return {{"expected", ranks->expected ? Json(*ranks->expected) : Json(nullptr)},
          {"received", ranks->received},
          {"missing", ranks->missing},
          {"rejected", std::move(rejected)}};
}

Json head_json(const RunDocument& run) {
  return {{"id", run.id},
          {"project", run.project},
          {"workload", run.workload},
          {"commit", run.commit},
          {"branch", text_or_null(run.branch)},
          {"base_branch", text_or_null(run.base_branch)},
          {"head", text_or_null(run.head)},
          {"base", text_or_null(run.base)},
          {"pr", run.pull_request ? Json(*run.pull_request) : Json(nullptr)},
          {"fork", run.fork},
          {"attempt", run.attempt},
          {"job", text_or_null(run.job)},
          {"matrix", text_or_null(run.matrix)},
          {"job_url", text_or_null(run.job_url)},
          {"uploaded_at", to_rfc3339(run.uploaded_at)},
          {"environment", run.environment},
          {"status", run.status},
          {"superseded", run.superseded},
          {"ranks", ranks_json(run.ranks)},
          {"warnings", run.warnings},
          {"error", error_json(run.error)}};
}

Json time_or_null(const std::optional<Timestamp>& time) { return time ? Json(to_rfc3339(*time)) : Json(nullptr); }

std::string list_of(const std::vector<TraceState>& traces) {
  Json list = Json::array();
  for (const TraceState& trace : traces)
    list.push_back({{"rank", trace.rank},
                    {"bytes", trace.bytes},
                    {"sha256", trace.sha256},
                    {"kept", !trace.removed_at},
                    {"kept_until", time_or_null(trace.kept_until)},
                    {"removed_at", time_or_null(trace.removed_at)},
                    {"removed_why", text_or_null(trace.removed_why)}});
  return dump(list);
}

/// The stored documents are valid JSON of our own: they are put in as they are, without being parsed again.
void splice(std::string& object, std::string_view key, const std::string& document) {
  object.pop_back();
  object += fmt::format(R"(,"{}":{})", key, document.empty() ? "null" : document);
  object += '}';
}

std::string list_of(const std::vector<AcceptanceDocument>& acceptances) {
  Json list = Json::array();
  for (const AcceptanceDocument& acceptance : acceptances) list.push_back(json_of(acceptance));
  return dump(list);
}

Result<std::optional<VerdictDocument>> verdict_in(ObjectReader& in) {
  const Json* verdict = in.child("verdict");
  if (verdict == nullptr) return std::optional<VerdictDocument>{};
  TRACEWEIR_TRY(document, verdict_of(*verdict));
  return std::optional(std::move(document));
}

/// The service may know more error words than this client; those read as `internal` with their text kept.
std::optional<Error> error_in(ObjectReader& in) {
  const Json* json = in.child("error");
  if (json == nullptr) return std::nullopt;
  ObjectReader inner(*json);
  Error error{ErrorCode::internal, inner.maybe_text("detail").value_or("")};
  const std::string type = inner.maybe_text("type").value_or("");
  if (const auto code = error_code_of(type)) error.code = *code;
  return error;
}

std::vector<std::int64_t> integers_in(ObjectReader& in, const char* key) {
  std::vector<std::int64_t> numbers;
  if (const Json* list = in.child(key))
    for (const Json& item : *list)
      if (item.is_number_integer()) numbers.push_back(item.get<std::int64_t>());
  return numbers;
}

std::optional<RunRanks> ranks_in(ObjectReader& in) {
  const Json* json = in.child("ranks");
  if (json == nullptr) return std::nullopt;
  ObjectReader inner(*json);
  RunRanks ranks;
  ranks.expected = inner.maybe_integer("expected");
  ranks.received = integers_in(inner, "received");
  ranks.missing = integers_in(inner, "missing");
  if (const Json* rows = inner.child("rejected"))
    for (const Json& row : *rows) {
      ObjectReader item(row);
      const auto rank = item.maybe_integer("rank");
      const auto error = error_in(item);
      if (rank && error) ranks.rejected.push_back({*rank, *error});
    }
  return ranks;
}

Result<std::vector<AcceptanceDocument>> acceptances_in(ObjectReader& in) {
  std::vector<AcceptanceDocument> acceptances;
  const Json* list = in.child("acceptances");
  if (list == nullptr) return acceptances;
  for (const Json& item : *list) {
    TRACEWEIR_TRY(acceptance, acceptance_of(item));
    acceptances.push_back(std::move(acceptance));
  }
  return acceptances;
}

}  // namespace

std::string run_path(std::string_view project, std::string_view run) {
  return fmt::format("/api/v1/projects/{}/runs/{}", project, run);
}

std::string run_page(std::string_view project, std::string_view run) {
  return fmt::format("/projects/{}/runs/{}", project, run);
}

std::string to_json(const RunDocument& document, Detail detail) {
  std::string out = dump(head_json(document));
  if (detail == Detail::whole) splice(out, "acceptances", list_of(document.acceptances));
  if (detail == Detail::whole) splice(out, "traces", list_of(document.traces));
  splice(out, "verdict", document.verdict_json);
  if (detail == Detail::whole) splice(out, "report", document.report_json);
  const Json links = {{"self", run_path(document.project, document.id)},
                      {"html", run_page(document.project, document.id)}};
  splice(out, "links", dump(links));
  return out;
}

Result<RunAnswer> run_of(const Json& json) {
  ObjectReader in(json);
  RunAnswer run;
  run.id = in.text("id");
  run.project = in.text("project");
  run.workload = in.text("workload");
  run.commit = in.text("commit");
  run.branch = in.maybe_text("branch").value_or("");
  run.status = in.text("status");
  run.attempt = in.maybe_integer("attempt").value_or(1);
  run.superseded = in.child("superseded") != nullptr && in.boolean("superseded");
  run.error = error_in(in);
  run.ranks = ranks_in(in);
  if (const Json* warnings = in.child("warnings"))
    for (const Json& item : *warnings)
      if (item.is_string()) run.warnings.push_back(item.get<std::string>());
  if (const Json* links = in.child("links")) {
    ObjectReader inner(*links);
    run.self = inner.maybe_text("self").value_or("");
    run.html = inner.maybe_text("html").value_or("");
  }
  TRACEWEIR_TRY(acceptances, acceptances_in(in));
  run.acceptances = std::move(acceptances);
  TRACEWEIR_TRY(verdict, verdict_in(in));
  run.verdict = std::move(verdict);
  if (in.error()) return tl::unexpected(*in.error());
  return run;
}

bool is_away(const Error& error) {
  constexpr ErrorCode codes[] = {ErrorCode::unreachable,    ErrorCode::queue_full,      ErrorCode::store_unavailable,
                                 ErrorCode::disk_full,      ErrorCode::request_timeout, ErrorCode::internal,
                                 ErrorCode::quota_exceeded, ErrorCode::too_many_uploads};
  return std::find(std::begin(codes), std::end(codes), error.code) != std::end(codes);
}

Result<RunAnswer> run_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  return run_of(json);
}

Result<report::Report> report_in(std::string_view run_text) {
  TRACEWEIR_TRY(json, parse_json(run_text));
  ObjectReader in(json);
  const Json* report = in.child("report");
  if (report == nullptr) return fail(ErrorCode::bad_body, "report: missing");
  return report::from_json(dump(*report));
}

}  // namespace traceweir::wire
