#include "cli/explain_ci.hpp"

#include <fmt/format.h>

#include <string_view>

#include "command_line/variables.hpp"
#include "server/wire/json.hpp"

namespace traceweir::cli {
namespace {

wire::Json json_of(const FactRow& row, const CiEnvironment& found) {
  if (row.kind == FactKind::yes_or_no) return found.is(row.fact);
  if (row.fact == Fact::attempt) return found.number(row.fact).value_or(1);
  if (!found.facts.contains(row.fact)) return nullptr;
  if (row.kind == FactKind::number) return *found.number(row.fact);
  return found.text(row.fact);
}

/// Those of other programs of ours: they are no typos.
constexpr std::string_view variables_of_others[] = {
    "TRACEWEIR_TOKEN", "TRACEWEIR_OIDC_TOKEN", "TRACEWEIR_OIDC_AUDIENCE", "TRACEWEIR_LISTEN",   "TRACEWEIR_DATA_DIR",
    "TRACEWEIR_STORE", "TRACEWEIR_OUTCOME",    "TRACEWEIR_SUMMARY",       "TRACEWEIR_EXIT_CODE"};

}  // namespace

std::string ci_table(const CiEnvironment& found, const std::string& credential) {
  std::string text = fmt::format("{:<11}  {:<40}  {}\n", "ci", found.ci, found.ci_source);
  for (const FactRow& row : fact_table())
    if (found.facts.contains(row.fact))
      text += fmt::format("{:<11}  {:<40}  {}\n", row.name, found.text(row.fact), found.source(row.fact));
  for (const std::string& parent : found.parents) text += fmt::format("{:<11}  {:<40}  git\n", "parent", parent);
  if (!found.key.empty()) text += fmt::format("{:<11}  {:<40}  followed by a hash of what is sent\n", "key", found.key);
  text += fmt::format("credential   {}\n", credential.empty() ? "none: set TRACEWEIR_TOKEN, or let the CI give an id "
                                                                "token"
                                                              : credential);
  std::string unknown;
  for (const FactRow& row : fact_table())
    if (!found.facts.contains(row.fact) && row.flag != nullptr)
      unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", row.name);
  if (!unknown.empty()) text += fmt::format("not known    {}\n", unknown);
  for (const std::string& note : found.notes) text += fmt::format("note: {}\n", note);
  for (const std::string& remark : found.remarks) text += fmt::format("note: {}\n", remark);
  return text;
}

std::string ci_json(const CiEnvironment& found, const std::string& credential) {
  wire::Json json = {{"ci", found.ci}};
  wire::Json sources = {{"ci", found.ci_source}};
  for (const FactRow& row : fact_table()) {
    json[std::string(row.name)] = json_of(row, found);
    if (found.facts.contains(row.fact)) sources[std::string(row.name)] = found.source(row.fact);
  }
  json["key"] = found.key.empty() ? wire::Json(nullptr) : wire::Json(found.key);
  json["credential"] = credential.empty() ? wire::Json(nullptr) : wire::Json(credential);
  json["parents"] = found.parents;
  std::vector<std::string> notes = found.notes;
  notes.insert(notes.end(), found.remarks.begin(), found.remarks.end());
  json["notes"] = notes;
  json["sources"] = std::move(sources);
  return wire::dump(json);
}

std::vector<std::string> unknown_variables(const std::vector<std::string>& known) {
  return command_line::unread_variables(known, variables_of_others);
}

}  // namespace traceweir::cli
