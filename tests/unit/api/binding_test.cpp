#include "server/api/binding.hpp"

#include <doctest/doctest.h>

#include <string>

#include "server/oidc/job.hpp"

using namespace traceweir;
using namespace traceweir::api;

namespace {

std::string binding_of(const char* event, const char* ref, const char* sha) {
  const wire::Json claims = {
      {"iss", "i"}, {"repository", "acme/llama"}, {"ref", ref}, {"event_name", event}, {"sha", sha}};
  return wire::dump(oidc::to_json(oidc::job_of(oidc::Ci::github, claims).value()));
}

store::RunHead upload(const char* commit, const char* branch) {
  store::RunHead head;
  head.commit = commit;
  head.branch = branch;
  return head;
}

}  // namespace

// Why: a tag that is called as the branch that gates merges must not measure for it.
TEST_CASE("binding: a tag's upload gets the tag's whole name, and no branch's") {
  const std::string binding = binding_of("push", "refs/tags/main", "aa");
  for (const char* stated : {"main", "refs/tags/main"}) {
    CAPTURE(stated);
    store::RunHead head = upload("aa", stated);
    CHECK(apply_binding(binding, head));
    CHECK(head.branch == "refs/tags/main");
    CHECK(check_binding(binding, head));
  }
  for (const char* stated : {"refs/heads/main", "tags/main", "v1"}) {
    CAPTURE(stated);
    store::RunHead head = upload("aa", stated);
    CHECK(apply_binding(binding, head).error().code == ErrorCode::forbidden);
  }
  CHECK_FALSE(check_binding(binding, upload("aa", "main")));
}

TEST_CASE("binding: a branch's job has its branch and its commit, a change's neither") {
  const std::string main = binding_of("push", "refs/heads/main", "AA");
  CHECK(check_binding(main, upload("aa", "main")));
  CHECK(check_binding(main, upload("bb", "main")).error().message.find("commit: expected aa") != std::string::npos);
  CHECK_FALSE(check_binding(main, upload("aa", "other")));
  CHECK(check_binding(binding_of("push", "refs/heads/main", ""), upload("bb", "main")));

  const std::string pull = binding_of("pull_request", "refs/pull/12/merge", "aa");
  store::RunHead change = upload("bb", "feature");
  CHECK_FALSE(check_binding(pull, change));
  change.pull_request = 12;
  CHECK(check_binding(pull, change));
  change.pull_request = 13;
  CHECK_FALSE(check_binding(pull, change));

  CHECK(check_binding("", upload("bb", "any")));
  CHECK(check_binding("{", upload("bb", "any")).error().code == ErrorCode::internal);
}
