#include "cli/policy_question.hpp"

#include <fmt/format.h>

#include "cli/repository_policy.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {

Result<std::string> ask_about(const PolicyQuestion& question) {
  TRACEWEIR_TRY(client, connect(question.connection));
  PathWithQuery path(
      fmt::format("/api/v1/projects/{}/policy/{}", wire::percent_encoded(question.connection.project), question.what));
  path.add("workload", question.workload);
  path.add("branch", question.branch);
  path.add("since", question.since);
  ClientRequest request;
  request.method = "POST";
  request.path = path.text();
  request.text = question.policy;
  TRACEWEIR_TRY(answer, client.send(request));
  if (answer.status >= 400) return tl::unexpected(error_of(answer));
  return answer.body;
}

Result<std::string> policy_text(const std::string& file) {
  TRACEWEIR_TRY(policy, repository_policy(file, {}));
  return policy ? policy->text : std::string();
}

}  // namespace traceweir::cli
