#include "cli/ci_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "analyzer/core/text.hpp"
#include "cli/ci_reading.hpp"
#include "server/hash/sha256.hpp"

namespace traceweir::cli {
namespace {

/// A fact that one of the CI's variables simply holds.
struct Holds {
  Fact fact;
  const char* variable;
};

constexpr Holds github_holds[] = {{Fact::event, "GITHUB_EVENT_NAME"}, {Fact::job, "GITHUB_JOB"}};
constexpr Holds gitlab_holds[] = {{Fact::event, "CI_PIPELINE_SOURCE"},
                                  {Fact::ci_run, "CI_PIPELINE_ID"},
                                  {Fact::job, "CI_JOB_NAME"},
                                  {Fact::job_url, "CI_JOB_URL"},
                                  {Fact::tag, "CI_COMMIT_TAG"}};
constexpr Holds buildkite_holds[] = {{Fact::ci_run, "BUILDKITE_BUILD_ID"},     {Fact::job, "BUILDKITE_STEP_KEY"},
                                     {Fact::job, "BUILDKITE_LABEL"},           {Fact::job, "BUILDKITE_STEP_ID"},
                                     {Fact::matrix, "BUILDKITE_PARALLEL_JOB"}, {Fact::tag, "BUILDKITE_TAG"}};
constexpr Holds jenkins_holds[] = {{Fact::ci_run, "BUILD_TAG"},  {Fact::job, "JOB_NAME"},
                                   {Fact::job_url, "BUILD_URL"}, {Fact::tag, "TAG_NAME"},
                                   {Fact::pr, "CHANGE_ID"},      {Fact::base_branch, "CHANGE_TARGET"}};

/// A CI: what tells that it is there, which facts its variables hold, what else has to be read, and how a person gets
/// a whole clone in it. `begins`: what the telling variable's value begins with; empty: it is set.
struct Row {
  std::string_view name;
  struct Sign {
    const char* variable;
    std::string_view begins;
  } signs[2];
  std::span<const Holds> holds;
  void (*read)(CiReading& in);
  std::string_view deepen;
};

constexpr Row rows[] = {
    {"github",
     {{"GITHUB_ACTIONS", "true"}, {"GITHUB_RUN_ID", ""}},
     github_holds,
     &read_github,
     "give actions/checkout fetch-depth: 0"},
    {"gitlab",
     {{"GITLAB_CI", "true"}, {"CI_PIPELINE_ID", ""}},
     gitlab_holds,
     &read_gitlab,
     "set the variable GIT_DEPTH to 0 (what GitLab calls a shallow clone's fetch-depth)"},
    {"buildkite",
     {{"BUILDKITE", "true"}, {"BUILDKITE_BUILD_ID", ""}},
     buildkite_holds,
     &read_buildkite,
     "leave --depth out of BUILDKITE_GIT_CLONE_FLAGS and BUILDKITE_GIT_FETCH_FLAGS, or run git fetch --unshallow"},
    {"jenkins",
     {{"JENKINS_URL", ""}, {"BUILD_TAG", "jenkins-"}},
     jenkins_holds,
     &read_jenkins,
     "switch the shallow clone off in the job's advanced clone behaviours, or run git fetch --unshallow"},
};
constexpr std::string_view deepen_anywhere = "run git fetch --unshallow";

const Row::Sign* sign_of(const Row& row, const CiReading& in) {
  for (const Row::Sign& sign : row.signs) {
    const std::string value = in.variable(sign.variable);
    if (!value.empty() && value.starts_with(sign.begins)) return &sign;
  }
  return nullptr;
}

/// The row that tells itself, or the one that --ci names. Errors: usage.
Result<const Row*> row_of(const std::string& named, CiReading& in) {
  if (named == "none" || named == "git") return nullptr;
  for (const Row& row : rows) {
    if (!named.empty() && named != row.name) continue;
    const Row::Sign* const sign = sign_of(row, in);
    if (named.empty() && sign == nullptr) continue;
    in.found.ci = row.name;
    in.found.ci_source = named.empty() ? sign->variable : "--ci";
    return &row;
  }
  if (named.empty()) return nullptr;
  return fail(ErrorCode::usage, fmt::format("--ci: there is no '{}'; there are: {}, none", clean_text(named, 40),
                                            fmt::join(ci_names(), ", ")));
}

/// Flags first, then TRACEWEIR_* variables. Errors: usage.
Result<void> demand_all(const CiInputs& inputs, CiReading& in) {
  for (const FactRow& row : fact_table())
    if (const auto given = inputs.given.find(row.fact); given != inputs.given.end())
      TRACEWEIR_TRY_VOID(in.demand(row, given->second, row.flag));
  for (const FactRow& row : fact_table())
    if (row.variable != nullptr) TRACEWEIR_TRY_VOID(in.demand(row, in.variable(row.variable), row.variable));
  return {};
}

/// A part of a key that cannot be mistaken for two. Whatever is not plain is left out, and a hash keeps texts apart.
std::string key_part(const std::string& text) {
  constexpr std::size_t bytes_max = 60;
  std::string part;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       std::string_view("._:@-").find(c) != std::string_view::npos;
    part += plain ? c : '-';
  }
  if (part == text && part.size() <= bytes_max) return part;
  return part.substr(0, bytes_max) + "~" + hash::sha256_hex(text).substr(0, 8);
}

std::string key_of(const CiEnvironment& found) {
  if (!found.facts.contains(Fact::ci_run)) return "";
  std::string key = found.ci;
  for (const Fact fact : {Fact::ci_run, Fact::attempt, Fact::job, Fact::matrix}) {
    const std::string value = found.text(fact);
    if (fact != Fact::matrix || !value.empty()) key += "/" + key_part(value.empty() ? "-" : value);
  }
  return key;
}

}  // namespace

void CiReading::offer(Fact fact, const std::string& value, const std::string& source) {
  if (value.empty() || knows(fact)) return;
  for (const FactRow& row : fact_table()) {
    if (row.fact != fact) continue;
    auto read = fact_value(row, value, inputs_.git);
    if (!read) return note(fmt::format("{} ({}) is left out: {}", row.name, source, read.error().message));
    if (!read->empty()) found.facts[fact] = {*std::move(read), source};
  }
}

bool CiReading::offer_variable(Fact fact, const std::string& name) {
  const std::string value = variable(name);
  offer(fact, value, name);
  return !value.empty();
}

Result<void> CiReading::demand(const FactRow& row, const std::string& value, const std::string& source) {
  if (value.find_first_not_of(" \t\r\n") == std::string::npos || knows(row.fact)) return {};
  auto read = fact_value(row, value, inputs_.git);
  if (!read) return fail(ErrorCode::usage, fmt::format("{}: {}", source, read.error().message));
  found.facts[row.fact] = {*std::move(read), source};
  return {};
}

void CiReading::note(std::string sentence) {
  if (std::find(found.notes.begin(), found.notes.end(), sentence) == found.notes.end())
    found.notes.push_back(std::move(sentence));
}

std::string CiEnvironment::text(Fact fact) const {
  const auto known = facts.find(fact);
  return known == facts.end() ? "" : known->second.value;
}

std::string CiEnvironment::source(Fact fact) const {
  const auto known = facts.find(fact);
  return known == facts.end() ? "" : known->second.source;
}

std::optional<std::int64_t> CiEnvironment::number(Fact fact) const {
  const std::string digits = text(fact);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc{}) return std::nullopt;
  return number;
}

bool CiEnvironment::is(Fact fact) const { return text(fact) == "true"; }

bool CiEnvironment::is_change() const {
  if (facts.contains(Fact::pr) || is(Fact::fork)) return true;
  const bool in_ci = ci != "git" && ci != "none";
  const bool elsewhere = facts.contains(Fact::base_branch) && text(Fact::branch) != text(Fact::base_branch);
  return in_ci && elsewhere && !facts.contains(Fact::tag);
}

Result<CiEnvironment> ci_environment(const CiInputs& inputs) {
  CiReading in(inputs);
  TRACEWEIR_TRY_VOID(demand_all(inputs, in));
  TRACEWEIR_TRY(row, row_of(inputs.ci, in));
  if (row != nullptr) {
    for (const Holds& held : row->holds) in.offer_variable(held.fact, held.variable);
    row->read(in);
  }
  read_git(in, row == nullptr ? deepen_anywhere : row->deepen);
  in.offer(Fact::head, in.found.text(Fact::commit), "the commit");
  if (in.knows(Fact::ci_run)) in.offer(Fact::attempt, "1", "nothing says otherwise");
  in.found.key = key_of(in.found);
  if (in.found.key.empty())
    in.remark("no CI run is known, so every call gets a key of its own and is a further sample of its commit");
  return std::move(in.found);
}

std::vector<std::string> ci_names() {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace traceweir::cli
