#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/text.hpp"
#include "cli/ci_reading.hpp"
#include "server/wire/commit_list.hpp"
#include "server/wire/json.hpp"

namespace traceweir::cli {
namespace {

/// GitHub's own limit of an event is 25 MB. Its text is what strangers wrote: titles, branches, bodies.
constexpr std::size_t event_bytes_max = std::size_t{25} << 20;

constexpr std::string_view event_file = "GITHUB_EVENT_PATH";

/// Only a plain file is read: a pipe or a device would not end. Errors: io_failed, trace_too_large.
Result<std::string> text_of_event(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat facts {};
  if (file < 0) return fail(ErrorCode::io_failed, "it cannot be opened");
  const bool plain = ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
  std::string text(plain ? std::min(static_cast<std::size_t>(facts.st_size), event_bytes_max + 1) : 0, '\0');
  std::size_t have = 0;
  for (ssize_t count = 1; have < text.size() && count > 0;
       have += static_cast<std::size_t>(std::max<ssize_t>(count, 0)))
    count = ::read(file, text.data() + have, text.size() - have);
  ::close(file);
  if (!plain) return fail(ErrorCode::io_failed, "it is no file");
  text.resize(have);
  if (text.size() > event_bytes_max) return fail(ErrorCode::trace_too_large, "it is larger than 25 MiB");
  return text;
}

/// The event: a value by its path of keys. What is missing, or of another type, is an empty text.
class Event {
 public:
  static Event of(CiReading& in) {
    Event event;
    const std::string path = in.variable(std::string(event_file));
    if (path.empty()) return event;
    auto text = text_of_event(path);
    if (!text) {
      in.note(fmt::format("{}: {}", event_file, text.error().message));
      return event;
    }
    auto json = wire::parse_json(*text);
    if (json)
      event.json_ = *std::move(json);
    else
      in.note(fmt::format("{}: {}", event_file, clean_text(json.error().message, 200)));
    return event;
  }

  [[nodiscard]] const wire::Json* at(std::string_view path) const {
    const wire::Json* json = &json_;
    while (!path.empty()) {
      const std::size_t dot = std::min(path.find('.'), path.size());
      const std::string key(path.substr(0, dot));
      path.remove_prefix(std::min(dot + 1, path.size()));
      if (json->is_array() && key == "0" && !json->empty()) {
        json = &json->front();
        continue;
      }
      if (!json->is_object() || !json->contains(key)) return nullptr;
      json = &(*json)[key];
    }
    return json;
  }

  [[nodiscard]] std::string text(std::string_view path) const {
    const wire::Json* const json = at(path);
    if (json == nullptr) return "";
    if (json->is_string()) return json->get<std::string>();
    return json->is_number_integer() ? json->dump() : "";
  }

 private:
  wire::Json json_;
};

std::string source_of(std::string_view path) { return fmt::format("{} in {}", path, event_file); }

/// A branch of a fork must not be taken for one of ours.
std::string branch_in(const std::string& owner, const std::string& branch) {
  return branch.empty() ? "" : fmt::format("{}:{}", owner.empty() ? "fork" : owner, branch);
}

std::string without_prefix(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : "";
}

/// The repositories of head and base, by name; a deleted fork has none.
bool is_fork(const std::string& head, const std::string& base) { return head.empty() || head != base; }

std::string offer_name(const Event& event, std::string_view first, std::string_view second) {
  const std::string name = event.text(first);
  return name.empty() ? event.text(second) : name;
}

/// Without its event a pull request is still told: by its ref, and by the test merge's second parent.
void read_pull_request_without_event(CiReading& in) {
  const std::string ref = without_prefix(in.variable("GITHUB_REF"), "refs/pull/");
  in.offer(Fact::pr, ref.substr(0, ref.find('/')), "GITHUB_REF");
  const std::vector<std::string> parents = real_parents(in, in.variable("GITHUB_SHA"));
  if (parents.size() == 2) in.offer(Fact::commit, parents[1], "second parent of the test merge GITHUB_SHA");
  in.offer_variable(Fact::branch, "GITHUB_HEAD_REF");
  in.offer_variable(Fact::base_branch, "GITHUB_BASE_REF");
}

/// GITHUB_SHA of a pull request is a test merge that vanishes, and the event's base.sha may be older than the branch.
void read_pull_request(CiReading& in, const Event& event) {
  if (event.at("pull_request") == nullptr) return read_pull_request_without_event(in);
  const std::string head_sha = event.text("pull_request.head.sha");
  in.offer(Fact::commit, head_sha, source_of("pull_request.head.sha"));
  in.offer(Fact::head, head_sha, source_of("pull_request.head.sha"));
  in.offer(Fact::pr, offer_name(event, "pull_request.number", "number"), source_of("pull_request.number"));
  const std::string base = offer_name(event, "pull_request.base.repo.full_name", "repository.full_name");
  const std::string head = event.text("pull_request.head.repo.full_name");
  const bool fork = is_fork(head, base.empty() ? in.variable("GITHUB_REPOSITORY") : base);
  in.offer(Fact::fork, fork ? "true" : "false", source_of("pull_request.head.repo.full_name"));
  const std::string branch = event.text("pull_request.head.ref");
  const std::string owner = offer_name(event, "pull_request.head.repo.owner.login", "pull_request.head.user.login");
  in.offer(Fact::branch, fork ? branch_in(owner.empty() ? head.substr(0, head.find('/')) : owner, branch) : branch,
           source_of("pull_request.head.ref"));
  in.offer_variable(Fact::base_branch, "GITHUB_BASE_REF");
  in.offer(Fact::base_branch, event.text("pull_request.base.ref"), source_of("pull_request.base.ref"));
  if (in.variable("GITHUB_EVENT_NAME") == "pull_request_target")
    in.note(
        "pull_request_target runs with the repository's secrets: never check out and run a fork's code in it; "
        "use the two workflows of the fork flow (docs/ci.md)");
}

/// A queue's commit is temporary; its branch names the last pull request in it: gh-readonly-queue/main/pr-12-<sha>.
void read_merge_group(CiReading& in, const Event& event) {
  in.offer(Fact::commit, event.text("merge_group.head_sha"), source_of("merge_group.head_sha"));
  in.offer(Fact::base, event.text("merge_group.base_sha"), source_of("merge_group.base_sha"));
  const std::string ref = without_prefix(event.text("merge_group.head_ref"), "refs/heads/");
  in.offer(Fact::branch, ref, source_of("merge_group.head_ref"));
  in.offer(Fact::base_branch, without_prefix(event.text("merge_group.base_ref"), "refs/heads/"),
           source_of("merge_group.base_ref"));
  const std::size_t begin = ref.rfind("/pr-");
  if (begin == std::string::npos) return;
  const std::string number = ref.substr(begin + 4);
  in.offer(Fact::pr, number.substr(0, number.find('-')), source_of("merge_group.head_ref"));
}

/// The second workflow of the fork flow: what was measured is the first one's commit, run and attempt.
void read_workflow_run(CiReading& in, const Event& event) {
  for (const Fact fact : {Fact::commit, Fact::head})
    in.offer(fact, event.text("workflow_run.head_sha"), source_of("workflow_run.head_sha"));
  in.offer(Fact::ci_run, event.text("workflow_run.id"), source_of("workflow_run.id"));
  in.offer(Fact::attempt, event.text("workflow_run.run_attempt"), source_of("workflow_run.run_attempt"));
  in.offer(Fact::job_url, event.text("workflow_run.html_url"), source_of("workflow_run.html_url"));
  const std::string base = event.text("repository.full_name");
  const bool fork = is_fork(event.text("workflow_run.head_repository.full_name"),
                            base.empty() ? in.variable("GITHUB_REPOSITORY") : base);
  in.offer(Fact::fork, fork ? "true" : "false", source_of("workflow_run.head_repository.full_name"));
  const std::string branch = event.text("workflow_run.head_branch");
  in.offer(Fact::branch, fork ? branch_in(event.text("workflow_run.head_repository.owner.login"), branch) : branch,
           source_of("workflow_run.head_branch"));
  constexpr std::string_view request = "workflow_run.pull_requests.0.";
  for (const auto& [fact, path] : {std::pair{Fact::pr, "number"}, std::pair{Fact::base_branch, "base.ref"}})
    in.offer(fact, event.text(fmt::format("{}{}", request, path)), source_of(fmt::format("{}{}", request, path)));
  in.remark(fmt::format("this workflow follows one of event '{}': its commit, run and attempt are told, not this one's",
                        clean_text(event.text("workflow_run.event"), 40)));
}

struct EventRow {
  std::string_view name;
  void (*read)(CiReading& in, const Event& event);
};
constexpr EventRow events[] = {{"pull_request", &read_pull_request},
                               {"pull_request_target", &read_pull_request},
                               {"pull_request_review", &read_pull_request},
                               {"merge_group", &read_merge_group},
                               {"workflow_run", &read_workflow_run}};

/// Which commit lies in the work tree matters to a person who looks for what was measured.
void note_test_merge(CiReading& in) {
  const auto checked_out = in.git({"rev-parse", "--verify", "-q", "HEAD"});
  if (checked_out && *checked_out == in.variable("GITHUB_SHA") && *checked_out != in.found.text(Fact::commit))
    in.remark(
        fmt::format("the work tree is the test merge {} of the pull request into its base; to measure the pull "
                    "request's own head, give actions/checkout ref: ${{{{ github.event.pull_request.head.sha }}}}",
                    checked_out->substr(0, 12)));
}

}  // namespace

void read_github(CiReading& in) {
  const std::string name = in.variable("GITHUB_EVENT_NAME");
  const Event event = Event::of(in);
  for (const EventRow& row : events)
    if (row.name == name) row.read(in, event);
  if (name.starts_with("pull_request")) note_test_merge(in);
  // From here on what holds for every event that has not said it.

  in.offer_variable(Fact::ci_run, "GITHUB_RUN_ID");
  in.offer_variable(Fact::attempt, "GITHUB_RUN_ATTEMPT");
  in.offer_variable(Fact::commit, "GITHUB_SHA");
  const std::string ref = in.variable("GITHUB_REF");
  in.offer(Fact::branch, without_prefix(ref, "refs/heads/"), "GITHUB_REF");
  in.offer(Fact::tag, without_prefix(ref, "refs/tags/"), "GITHUB_REF");
  in.offer(Fact::base_branch, event.text("repository.default_branch"), source_of("repository.default_branch"));
  const std::string server = in.variable("GITHUB_SERVER_URL"), repository = in.variable("GITHUB_REPOSITORY");
  if (!server.empty() && !repository.empty() && in.knows(Fact::ci_run))
    in.offer(Fact::job_url,
             fmt::format("{}/{}/actions/runs/{}{}", server, repository, in.found.text(Fact::ci_run),
                         in.knows(Fact::attempt) ? "/attempts/" + in.found.text(Fact::attempt) : ""),
             "GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID");
}

}  // namespace traceweir::cli
