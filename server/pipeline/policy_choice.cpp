#include "server/pipeline/policy_choice.hpp"

namespace traceweir::pipeline {
namespace {

/// Why the sent policy does not count; empty: it does, or there is none.
std::string why_ignored(const store::Project& project, const store::RunHead& head) {
  if (head.policy.empty()) return {};
  if (project.policy_source == store::PolicySource::server)
    return "the policy sent with the upload was not used: this project keeps its policy on the server";
  if (head.fork) return "the policy sent with the upload was not used: forks never bring their own";
  return {};
}

}  // namespace

Result<ChosenPolicy> choose_policy(const store::Project& project, const store::RunHead& head) {
  ChosenPolicy chosen;
  const std::string ignored = why_ignored(project, head);
  if (!ignored.empty()) chosen.notes.push_back(ignored);
  const bool use_sent = !head.policy.empty() && ignored.empty();
  const std::string& text = use_sent ? head.policy : project.policy;
  if (text.empty()) {
    chosen.policy = gate::built_in_policy();
    chosen.source = "built_in";
    return chosen;
  }
  TRACEWEIR_TRY(policy, gate::parse_policy(text));
  chosen.policy = std::move(policy);
  chosen.source = use_sent ? "sent" : "server";
  return chosen;
}

}  // namespace traceweir::pipeline
