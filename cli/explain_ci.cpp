#include "cli/explain_ci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "analyzer/core/text.hpp"
#include "server/wire/json.hpp"

extern char** environ;  // NOLINT: POSIX's own name

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

/// How many letters have to be changed, added or left out to make one of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = i;
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string sentence_about(const std::string& name, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(
      known.begin(), known.end(), [&](const auto& a, const auto& b) { return distance(name, a) < distance(name, b); });
  constexpr std::size_t typo_max = 3;
  const bool is_typo = nearest != known.end() && distance(name, *nearest) <= typo_max;
  return fmt::format("the variable {} is read by nobody{}", clean_text(name, 80),
                     is_typo ? fmt::format("; did you mean {}?", *nearest) : "");
}

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
  std::vector<std::string> sentences;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string name(text.substr(0, text.find('=')));
    const bool is_ours = name.starts_with("TRACEWEIR_");
    const bool is_read = std::find(known.begin(), known.end(), name) != known.end() ||
                         std::find(std::begin(variables_of_others), std::end(variables_of_others), name) !=
                             std::end(variables_of_others);
    if (is_ours && !is_read) sentences.push_back(sentence_about(name, known));
  }
  std::sort(sentences.begin(), sentences.end());
  return sentences;
}

}  // namespace traceweir::cli
