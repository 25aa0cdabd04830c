#include "server/oidc/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "analyzer/core/ascii.hpp"

namespace traceweir::oidc {
namespace {

constexpr std::size_t text_bytes_max = 512;
constexpr std::size_t refs_max = 32;
constexpr std::string_view heads = "refs/heads/", tags = "refs/tags/";

/// Events whose code is that of the branch or tag that the token names. Of others the code may be somebody's proposal:
/// `pull_request_target`, `workflow_run`, `issue_comment` say `refs/heads/main` and may have checked out a stranger's.
constexpr std::string_view github_own_events[] = {"push",        "schedule", "workflow_dispatch", "repository_dispatch",
                                                  "merge_group", "release"};
/// A child of a merge request's pipeline (`parent_pipeline`) names the branch of the change.
constexpr std::string_view gitlab_own_sources[] = {"push", "web", "schedule", "api", "trigger", "pipeline"};

template <std::size_t n>
bool is_among(const std::string_view (&words)[n], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// Numbers come as text or as numbers.
std::string word_in(const wire::Json& claims, const char* key) {
  const auto found = claims.find(key);
  if (found == claims.end()) return {};
  if (found->is_number_integer()) return found->dump();
  return found->is_string() ? found->get<std::string>() : std::string();
}

std::string without(std::string_view prefix, const std::string& ref) {
  return ref.starts_with(prefix) ? ref.substr(prefix.size()) : std::string();
}

/// A tag keeps its whole name: who may push tags must not be able to speak for the branch that is called the same.
std::string branch_in(const std::string& ref) { return ref.starts_with(tags) ? ref : without(heads, ref); }

/// `refs/pull/12/merge`, `refs/merge-requests/12/head`.
std::optional<std::int64_t> change_in(const std::string& ref) {
  for (const std::string_view prefix : {"refs/pull/", "refs/merge-requests/"}) {
    const std::string rest = without(prefix, ref);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (!rest.empty() && error == std::errc() && number > 0 && (end == rest.data() + rest.size() || *end == '/'))
      return number;
  }
  return std::nullopt;
}

void read_own(const wire::Json& claims, Job& job) {
  job.branch = branch_in(job.ref);
  if (job.branch.empty()) return;
  job.commit = word_in(claims, "sha");
  std::transform(job.commit.begin(), job.commit.end(), job.commit.begin(), lower);
}

void read_github(const wire::Json& claims, Job& job) {
  job.repository = word_in(claims, "repository");
  job.repository_id = word_in(claims, "repository_id");
  job.ref = word_in(claims, "ref");
  job.run = word_in(claims, "run_id");
  if (is_among(github_own_events, word_in(claims, "event_name"))) read_own(claims, job);
}

void read_gitlab(const wire::Json& claims, Job& job) {
  job.repository = word_in(claims, "project_path");
  job.repository_id = word_in(claims, "project_id");
  job.ref = word_in(claims, "ref_path");
  if (job.ref.empty())  // older than 16.0
    job.ref = std::string(word_in(claims, "ref_type") == "tag" ? tags : heads) + word_in(claims, "ref");
  job.run = word_in(claims, "pipeline_id");
  if (is_among(gitlab_own_sources, word_in(claims, "pipeline_source"))) read_own(claims, job);
}

struct CiRow {
  Ci ci;
  void (*read)(const wire::Json& claims, Job& job);
};
constexpr CiRow cis[] = {{Ci::github, &read_github}, {Ci::gitlab, &read_gitlab}};

std::string limited(wire::ObjectReader& in, std::string_view key, std::optional<std::string> text) {
  if (text && text->size() > text_bytes_max) in.refuse(key, fmt::format("longer than {} bytes", text_bytes_max));
  return std::move(text).value_or("");
}

std::vector<std::string> read_refs(wire::ObjectReader& in) {
  std::vector<std::string> refs;
  const wire::Json* const list = in.child("refs");
  if (list == nullptr) return refs;
  const auto is_pattern = [](const wire::Json& item) {
    return item.is_string() && item.get<std::string>().starts_with("refs/") &&
           item.get<std::string>().size() <= text_bytes_max;
  };
  if (!list->is_array() || list->empty() || list->size() > refs_max ||
      !std::all_of(list->begin(), list->end(), is_pattern))
    in.refuse("refs", "expected a list of patterns such as refs/heads/main or refs/pull/*/merge");
  else
    for (const wire::Json& item : *list) refs.push_back(item.get<std::string>());
  return refs;
}

Result<TrustedJob> trusted_job_of(const wire::Json& json) {
  if (!json.is_object()) return fail(ErrorCode::bad_body, "trusted_jobs: expected a list of objects");
  wire::ObjectReader in(json);
  TrustedJob job;
  job.issuer = limited(in, "issuer", in.text("issuer"));
  job.repository = limited(in, "repository", in.text("repository"));
  job.repository_id = limited(in, "repository_id", in.maybe_text("repository_id"));
  job.environment = limited(in, "environment", in.maybe_text("environment"));
  job.refs = read_refs(in);
  if (job.repository.empty()) in.refuse("repository", "expected OWNER/NAME");
  in.finish();
  if (in.error()) return tl::unexpected(*in.error());
  return job;
}

}  // namespace

std::string_view tag_of(const Job& job) {
  std::string_view name = job.branch;
  if (!name.starts_with(tags)) return {};
  name.remove_prefix(tags.size());
  return name;
}

Result<Job> job_of(Ci ci, const wire::Json& claims) {
  Job job;
  job.issuer = word_in(claims, "iss");
  job.environment = word_in(claims, "environment");
  for (const CiRow& row : cis)
    if (row.ci == ci) row.read(claims, job);
  job.pull_request = change_in(job.ref);
  if (job.repository.empty() || !job.ref.starts_with("refs/"))
    return fail(ErrorCode::unauthorized, "the id token is not accepted: it names no repository and ref");
  return job;
}

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, in_text = 0, star = std::string_view::npos, star_text = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_text = in_text;
    } else if (at < pattern.size() && pattern[at] == text[in_text]) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {  // the star takes one more
      at = star + 1;
      in_text = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool trusts(const TrustedJob& trusted, const Job& job) {
  const auto fits = [](const std::string& wanted, const std::string& is) { return wanted.empty() || wanted == is; };
  const auto of_ref = [&](const std::string& pattern) { return matches(pattern, job.ref); };
  return trusted.issuer == job.issuer && trusted.repository == job.repository &&
         fits(trusted.repository_id, job.repository_id) && fits(trusted.environment, job.environment) &&
         (trusted.refs.empty() || std::any_of(trusted.refs.begin(), trusted.refs.end(), of_ref));
}

Result<std::vector<TrustedJob>> trusted_jobs_of(const wire::Json& list) {
  if (!list.is_array() || list.size() > trusted_jobs_max)
    return fail(ErrorCode::bad_body, fmt::format("trusted_jobs: expected a list of at most {}", trusted_jobs_max));
  std::vector<TrustedJob> jobs;
  for (const wire::Json& item : list) {
    auto job = trusted_job_of(item);
    if (!job) return fail(ErrorCode::bad_body, fmt::format("trusted_jobs[{}]: {}", jobs.size(), job.error().message));
    jobs.push_back(*std::move(job));
  }
  return jobs;
}

wire::Json to_json(const std::vector<TrustedJob>& jobs) {
  wire::Json list = wire::Json::array();
  for (const TrustedJob& job : jobs) {
    wire::Json item = {{"issuer", job.issuer}, {"repository", job.repository}};
    if (!job.repository_id.empty()) item["repository_id"] = job.repository_id;
    if (!job.refs.empty()) item["refs"] = job.refs;
    if (!job.environment.empty()) item["environment"] = job.environment;
    list.push_back(std::move(item));
  }
  return list;
}

wire::Json to_json(const Job& job) {
  return {
      {"issuer", job.issuer}, {"repository", job.repository},
      {"ref", job.ref},       {"branch", job.branch},
      {"commit", job.commit}, {"pull_request", job.pull_request ? wire::Json(*job.pull_request) : wire::Json(nullptr)},
      {"run", job.run}};
}

Result<Job> job_from(const wire::Json& json) {
  wire::ObjectReader in(json);
  Job job;
  job.issuer = in.text("issuer");
  job.repository = in.text("repository");
  job.ref = in.text("ref");
  job.branch = in.text("branch");
  job.commit = in.maybe_text("commit").value_or("");  // tokens of before have none
  job.pull_request = in.maybe_integer("pull_request");
  job.run = in.text("run");
  if (in.error()) return tl::unexpected(*in.error());
  return job;
}

}  // namespace traceweir::oidc
