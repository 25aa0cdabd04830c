#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "cli/ci_reading.hpp"

namespace traceweir::cli {
namespace {

/// `owner` of `owner/name`, `group/sub` of `group/sub/name`.
std::string owner_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(0, slash);
}

/// What two addresses of one repository have in common: `github.com/owner/name`.
std::string repository_in(std::string url) {
  if (const std::size_t scheme = url.find("://"); scheme != std::string::npos) url.erase(0, scheme + 3);
  if (const std::size_t user = url.find('@'); user < url.find('/')) url.erase(0, user + 1);
  if (const std::size_t colon = url.find(':'); colon < url.find('/')) url[colon] = '/';
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with(".git")) url.resize(url.size() - 4);
  return url;
}

/// An attempt is one more than the number of retries.
void offer_retries(CiReading& in, const std::string& variable) {
  const std::string text = in.variable(variable);
  std::int64_t retries = -1;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, retries).ptr == end && retries >= 0 && retries < 1'000'000)
    in.offer(Fact::attempt, std::to_string(retries + 1), variable + " + 1");
}

void offer_tag_as_branch(CiReading& in) {
  if (in.knows(Fact::tag)) in.offer(Fact::branch, in.found.text(Fact::tag), in.found.source(Fact::tag));
}

void read_merge_request(CiReading& in) {
  in.offer_variable(Fact::pr, "CI_MERGE_REQUEST_IID");
  // Set in pipelines of merged results only, where CI_COMMIT_SHA is a merge that vanishes.
  in.offer_variable(Fact::commit, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA");
  in.offer_variable(Fact::base, "CI_MERGE_REQUEST_DIFF_BASE_SHA");
  in.offer_variable(Fact::base_branch, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME");
  const std::string source = in.variable("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH");
  std::string target = in.variable("CI_MERGE_REQUEST_PROJECT_PATH");
  if (target.empty()) target = in.variable("CI_PROJECT_PATH");
  const std::string branch = in.variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME");
  const bool fork = !source.empty() && source != target;
  if (!source.empty()) in.offer(Fact::fork, fork ? "true" : "false", "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH");
  in.offer(Fact::branch, fork ? owner_of(source) + ":" + branch : branch, "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME");
}

/// Pull requests of GitHub that GitLab's CI builds.
void read_external_pull_request(CiReading& in) {
  in.offer_variable(Fact::pr, "CI_EXTERNAL_PULL_REQUEST_IID");
  in.offer_variable(Fact::commit, "CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA");
  in.offer_variable(Fact::base_branch, "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME");
  in.offer_variable(Fact::branch, "CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME");
  const std::string source = in.variable("CI_EXTERNAL_PULL_REQUEST_SOURCE_REPOSITORY");
  const std::string target = in.variable("CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY");
  if (!source.empty()) in.offer(Fact::fork, source == target ? "false" : "true", "CI_EXTERNAL_PULL_REQUEST_*");
}

/// Jenkins builds a pull request merged into its target by default: GIT_COMMIT is then a commit that vanishes. Which
/// parent is the pull request's head is told by the branch that Jenkins fetched it as, else by the one that the target
/// branch does not have. Nothing: GIT_COMMIT is what people know.
std::string head_of_jenkins_merge(const CiReading& in) {
  const std::string commit = in.variable("GIT_COMMIT");
  const std::vector<std::string> parents = real_parents(in, commit);
  if (parents.size() != 2) return "";
  for (const char* const variable : {"BRANCH_NAME", "CHANGE_BRANCH"}) {
    const auto fetched = in.git({"rev-parse", "--verify", "-q", "refs/remotes/origin/" + in.variable(variable)});
    if (!fetched) continue;
    if (*fetched == commit) return "";
    if (std::find(parents.begin(), parents.end(), *fetched) != parents.end()) return *fetched;
  }
  const std::string target = ref_of_branch(in, in.variable("CHANGE_TARGET"));
  if (target.empty()) return parents[0];  // Jenkins merges the target into the head
  const bool first_is_target = in.git({"merge-base", "--is-ancestor", parents[0], target}).has_value();
  return first_is_target ? parents[1] : parents[0];
}

}  // namespace

void read_gitlab(CiReading& in) {
  if (!in.variable("CI_MERGE_REQUEST_IID").empty()) read_merge_request(in);
  if (!in.variable("CI_EXTERNAL_PULL_REQUEST_IID").empty()) read_external_pull_request(in);
  in.offer_variable(Fact::commit, "CI_COMMIT_SHA");
  in.offer_variable(Fact::branch, "CI_COMMIT_BRANCH");
  offer_tag_as_branch(in);
  in.offer_variable(Fact::branch, "CI_COMMIT_REF_NAME");
  in.offer_variable(Fact::base_branch, "CI_DEFAULT_BRANCH");
  if (in.sender() == Sender::one_of_several)
    in.offer(Fact::attempt, "1", "the jobs that send one run must agree, and GitLab counts each job's retries");
  offer_retries(in, "CI_JOB_RETRY_COUNT");
  // Older GitLabs do not count retries; the ids of the jobs grow.
  in.offer(Fact::attempt, in.variable("CI_JOB_ID"), "CI_JOB_ID, which grows with every retry");
}

void read_buildkite(CiReading& in) {
  const std::string number = in.variable("BUILDKITE_PULL_REQUEST");
  const bool queued = !in.variable("BUILDKITE_MERGE_QUEUE_BASE_BRANCH").empty();
  if (!number.empty() && number != "false") {
    in.offer(Fact::event, "pull_request", "BUILDKITE_PULL_REQUEST");
    in.offer(Fact::pr, number, "BUILDKITE_PULL_REQUEST");
    in.offer_variable(Fact::base_branch, "BUILDKITE_PULL_REQUEST_BASE_BRANCH");
    const std::string theirs = repository_in(in.variable("BUILDKITE_PULL_REQUEST_REPO"));
    const std::string ours = repository_in(in.variable("BUILDKITE_REPO"));
    if (!theirs.empty() && !ours.empty())
      in.offer(Fact::fork, theirs == ours ? "false" : "true", "BUILDKITE_PULL_REQUEST_REPO");
  }
  if (queued) {
    in.offer(Fact::event, "merge_group", "BUILDKITE_MERGE_QUEUE_BASE_BRANCH");
    in.offer_variable(Fact::base_branch, "BUILDKITE_MERGE_QUEUE_BASE_BRANCH");
    in.offer_variable(Fact::base, "BUILDKITE_MERGE_QUEUE_BASE_COMMIT");
  }
  // A build that a person started may say HEAD: what it is, only the work tree knows.
  const bool is_word = in.variable("BUILDKITE_COMMIT") == "HEAD";
  in.offer(Fact::commit, in.variable("BUILDKITE_COMMIT"),
           is_word ? "git rev-parse HEAD (BUILDKITE_COMMIT is the word HEAD)" : "BUILDKITE_COMMIT");
  in.offer(Fact::event, in.knows(Fact::tag) ? "tag" : "push", "BUILDKITE_TAG, BUILDKITE_PULL_REQUEST");
  offer_tag_as_branch(in);
  in.offer_variable(Fact::branch, "BUILDKITE_BRANCH");
  in.offer_variable(Fact::base_branch, "BUILDKITE_PIPELINE_DEFAULT_BRANCH");
  offer_retries(in, "BUILDKITE_RETRY_COUNT");
  const std::string url = in.variable("BUILDKITE_BUILD_URL"), job = in.variable("BUILDKITE_JOB_ID");
  in.offer(Fact::job_url, url.empty() || job.empty() ? url : url + "#" + job, "BUILDKITE_BUILD_URL");
}

void read_jenkins(CiReading& in) {
  const bool change = !in.variable("CHANGE_ID").empty();
  in.offer(Fact::event, change ? "pull_request" : in.knows(Fact::tag) ? "tag" : "push", "CHANGE_ID, TAG_NAME");
  if (change) {
    const std::string head = head_of_jenkins_merge(in);
    in.offer(Fact::commit, head, "the pull request's parent of the merge GIT_COMMIT");
    if (!head.empty())
      in.remark(
          fmt::format("the work tree is Jenkins' merge {} of the pull request and its target; to measure the pull "
                      "request's own head, choose the strategy \"The current pull request revision\"",
                      in.variable("GIT_COMMIT").substr(0, 12)));
    const std::string owner = in.variable("CHANGE_FORK"), branch = in.variable("CHANGE_BRANCH");
    in.offer(Fact::fork, owner.empty() ? "false" : "true", "CHANGE_FORK");
    in.offer(Fact::branch, owner.empty() ? branch : owner.substr(0, owner.find('/')) + ":" + branch, "CHANGE_BRANCH");
  }
  in.offer_variable(Fact::commit, "GIT_COMMIT");
  offer_tag_as_branch(in);
  in.offer_variable(Fact::branch, "BRANCH_NAME");
  in.offer_variable(Fact::branch, "GIT_LOCAL_BRANCH");
  const std::string remote = in.variable("GIT_BRANCH");
  in.offer(Fact::branch, remote.starts_with("origin/") ? remote.substr(7) : remote, "GIT_BRANCH");
  in.offer(Fact::attempt, "1", "Jenkins counts no attempts");
  if (in.found.source(Fact::attempt).starts_with("Jenkins"))
    in.remark(
        "Jenkins gives a rebuild a new number: it is a further sample of its commit and does not take the place of "
        "the first one; with a TRACEWEIR_CI_RUN that both have and a higher TRACEWEIR_ATTEMPT it does");
}

}  // namespace traceweir::cli
