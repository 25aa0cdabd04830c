#include "server/wire/acceptance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/core/text.hpp"

namespace traceweir::wire {
namespace {

constexpr std::string_view all_metrics = "all";
/// Of the metrics in a sentence.
constexpr std::size_t names_bytes_max = 200;

Json metrics_json(bool every_metric, const std::vector<std::string>& metrics) {
  return every_metric ? Json(all_metrics) : Json(metrics);
}

/// `"all"`, or a list of ids, each once.
void read_metrics(ObjectReader& in, bool& every_metric, std::vector<std::string>& metrics) {
  const Json* json = in.child("metrics");
  if (json == nullptr) return in.refuse("metrics", "missing: a list of metrics, or \"all\"");
  if (json->is_string() && json->get<std::string>() == all_metrics) {
    every_metric = true;
    return;
  }
  if (!json->is_array() || json->empty() || json->size() > accepted_metrics_max)
    return in.refuse("metrics", "a list of metrics, or \"all\", was expected");
  for (const Json& item : *json) {
    if (!item.is_string()) return in.refuse("metrics", "a list of texts was expected");
    metrics.push_back(item.get<std::string>());
  }
}

std::optional<Timestamp> time_of(ObjectReader& in, std::string_view key) {
  const auto text = in.maybe_text(key);
  if (!text) return std::nullopt;
  const auto time = from_rfc3339(*text);
  if (!time) in.refuse(key, "a date, or a time such as 2026-11-29T18:00:00Z, was expected");
  return time;
}

/// The day of a time, in UTC.
std::string date_of(Timestamp time) { return to_rfc3339(time).substr(0, 10); }

Json time_json(const std::optional<Timestamp>& time) { return time ? Json(to_rfc3339(*time)) : Json(nullptr); }

std::string acceptance_sentence(const AcceptanceDocument& acceptance) {
  const std::string who = acceptance.author.empty() ? std::string() : " by " + acceptance.author;
  const std::string what = acceptance.every_metric
                               ? std::string("every metric")
                               : clean_text(fmt::format("{}", fmt::join(acceptance.metrics, ", ")), names_bytes_max);
  const std::string until = acceptance.until ? ", until " + date_of(*acceptance.until) : std::string();
  return fmt::format("accepted{} on {} ({}){}: {}", who, date_of(acceptance.created_at), what, until,
                     acceptance.reason);
}

}  // namespace

std::string to_json(const AcceptanceRequest& request) {
  Json json = {{"metrics", metrics_json(request.every_metric, request.metrics)}, {"reason", request.reason}};
  if (request.until) json["until"] = to_rfc3339(*request.until);
  if (request.author) json["author"] = *request.author;
  return dump(json);
}

Result<AcceptanceRequest> acceptance_request_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  AcceptanceRequest request;
  read_metrics(in, request.every_metric, request.metrics);
  request.reason = in.text("reason");
  if (request.reason.empty()) in.refuse("reason", "missing: why is it accepted?");
  if (request.reason.size() > reason_bytes_max)
    in.refuse("reason", fmt::format("at most {} bytes were expected", reason_bytes_max));
  request.author = in.maybe_text("author");
  if (request.author && request.author->size() > author_bytes_max)
    in.refuse("author", fmt::format("at most {} bytes were expected", author_bytes_max));
  request.until = time_of(in, "until");
  in.finish();
  if (in.error()) return tl::unexpected(*in.error());
  request.reason = clean_text(request.reason, 4 * reason_bytes_max);
  if (request.author) request.author = clean_text(*request.author, 4 * author_bytes_max);
  return request;
}

Json json_of(const AcceptanceDocument& acceptance) {
  Json json = {{"id", acceptance.id},
               {"run", acceptance.run},
               {"commit", acceptance.commit},
               {"workload", acceptance.workload},
               {"metrics", metrics_json(acceptance.every_metric, acceptance.metrics)},
               {"reason", acceptance.reason},
               {"author", acceptance.author},
               {"created_at", to_rfc3339(acceptance.created_at)},
               {"until", time_json(acceptance.until)}};
  if (acceptance.undone_at) {
    json["undone_at"] = to_rfc3339(*acceptance.undone_at);
    json["undone_by"] = acceptance.undone_by;
  }
  return json;
}

std::string to_json(const AcceptanceDocument& acceptance) { return dump(json_of(acceptance)); }

std::string to_json(std::span<const AcceptanceDocument> acceptances) {
  Json list = Json::array();
  for (const AcceptanceDocument& acceptance : acceptances) list.push_back(json_of(acceptance));
  return dump({{"acceptances", std::move(list)}});
}

Result<AcceptanceDocument> acceptance_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  return acceptance_of(json);
}

Result<AcceptanceDocument> acceptance_of(const Json& json) {
  ObjectReader in(json);
  AcceptanceDocument acceptance;
  acceptance.id = in.text("id");
  acceptance.run = in.text("run");
  acceptance.commit = in.text("commit");
  acceptance.workload = in.text("workload");
  read_metrics(in, acceptance.every_metric, acceptance.metrics);
  acceptance.reason = in.text("reason");
  acceptance.author = in.text("author");
  acceptance.created_at = time_of(in, "created_at").value_or(Timestamp{});
  acceptance.until = time_of(in, "until");
  acceptance.undone_at = time_of(in, "undone_at");
  acceptance.undone_by = in.maybe_text("undone_by").value_or("");
  if (in.error()) return tl::unexpected(*in.error());
  return acceptance;
}

std::vector<std::string> sentences_of(std::span<const AcceptanceDocument> acceptances) {
  std::vector<std::string> sentences;
  for (const AcceptanceDocument& acceptance : acceptances)
    if (!acceptance.undone_at) sentences.push_back(acceptance_sentence(acceptance));
  return sentences;
}

}  // namespace traceweir::wire
