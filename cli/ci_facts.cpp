#include "cli/ci_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/text.hpp"
#include "server/wire/commit_list.hpp"

namespace traceweir::cli {
namespace {

/// More digits are no number of a pull request or an attempt, and would not fit into an answer's JSON exactly.
constexpr std::size_t digits_max = 15;

constexpr FactRow fact_rows[] = {
    {Fact::event, "event", FactKind::text, nullptr, nullptr, ""},
    {Fact::commit, "commit", FactKind::commit, "--commit", "TRACEWEIR_COMMIT",
     "the commit that was measured (default: the CI's, else HEAD)"},
    {Fact::head, "head", FactKind::commit, "--head", "TRACEWEIR_HEAD",
     "head commit of the pull request, where another one was measured"},
    {Fact::base, "base", FactKind::commit, "--base", "TRACEWEIR_BASE",
     "commit that it is compared with (default: the merge base with the base branch)"},
    {Fact::branch, "branch", FactKind::text, "--branch", "TRACEWEIR_BRANCH",
     "its branch (default: the CI's, else the work tree's)"},
    {Fact::base_branch, "base_branch", FactKind::text, "--base-branch", "TRACEWEIR_BASE_BRANCH",
     "branch whose runs are the baseline (default: the pull request's target, else the default branch)"},
    {Fact::tag, "tag", FactKind::text, nullptr, nullptr, ""},
    {Fact::pr, "pr", FactKind::number, "--pr", "TRACEWEIR_PR", "number of the pull request"},
    {Fact::fork, "fork", FactKind::yes_or_no, "--fork", "TRACEWEIR_FORK",
     "the commit comes from a fork: never a baseline, and its policy is not used"},
    {Fact::attempt, "attempt", FactKind::number, "--attempt", "TRACEWEIR_ATTEMPT",
     "attempt of the CI run: a higher one takes the place of a lower one"},
    {Fact::ci_run, "ci_run", FactKind::text, "--ci-run", "TRACEWEIR_CI_RUN", "the CI's id of its run"},
    {Fact::job, "job", FactKind::text, "--job", "TRACEWEIR_JOB", "name of the CI job"},
    {Fact::matrix, "matrix", FactKind::text, "--matrix", "TRACEWEIR_MATRIX",
     "which cell of the CI job's matrix: each is a sample of its own"},
    {Fact::job_url, "job_url", FactKind::text, "--job-url", "TRACEWEIR_JOB_URL", "address of the CI job"},
};

struct Word {
  std::string_view word, value;
};
constexpr Word yes_and_no[] = {{"true", "true"},   {"1", "true"},  {"yes", "true"}, {"on", "true"},
                               {"false", "false"}, {"0", "false"}, {"no", "false"}, {"off", "false"}};

std::string trimmed(const std::string& text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

Result<std::string> expected(std::string_view what, const std::string& text) {
  return fail(ErrorCode::usage, fmt::format("expected {}, not '{}'", what, clean_text(text, 80)));
}

Result<std::string> commit_named(const std::string& text, const GitCommand& git) {
  if (wire::is_commit(lower_case(text))) return lower_case(text);
  const bool is_name = !text.starts_with('-') && text.find_first_of("\r\n") == std::string::npos;
  const auto found = is_name ? git({"rev-parse", "--verify", "-q", text + "^{commit}"}) : std::nullopt;
  if (!found || !wire::is_commit(*found)) return expected("a full commit id, or a name that git knows here", text);
  return *found;
}

Result<std::string> number_in(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("0123456789") == std::string::npos ? text.size() : 0;
  const std::size_t zeros = std::min(text.find_first_not_of('0'), text.size());
  if (digits == 0 || zeros == text.size() || text.size() - zeros > digits_max)
    return expected("a whole number from 1", text);
  return text.substr(zeros);
}

}  // namespace

std::span<const FactRow> fact_table() { return fact_rows; }

Variables process_variables() {
  return [](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
}

Result<std::string> fact_value(const FactRow& row, std::string text, const GitCommand& git) {
  text = trimmed(text);
  if (row.kind == FactKind::commit) return commit_named(text, git);
  if (row.kind == FactKind::number) return number_in(text);
  if (row.kind == FactKind::text) return clean_text(text, 1024);
  for (const Word& word : yes_and_no)
    if (lower_case(text) == word.word) return std::string(word.value);
  return expected("true or false", text);
}

}  // namespace traceweir::cli
