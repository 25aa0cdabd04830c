#include "server/pipeline/replay.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "gate/judge.hpp"
#include "server/hash/sha256.hpp"
#include "server/pipeline/explanation.hpp"
#include "server/wire/judge_inputs.hpp"

namespace traceweir::pipeline {
namespace {

/// Judging again ends where a part of what it needs is gone or was changed: that is the difference then.
using Policies = Result<std::optional<std::string>>;

/// The text that the verdict names. Errors: bad_policy: gone, another text, none that can be read.
Result<gate::Policy> policy_of(const Policies& text, const wire::VerdictDocument& stored) {
  const std::string& sha256 = stored.policy_sha256;
  if (!*text) return fail(ErrorCode::bad_policy, fmt::format("the text of the policy {} is gone", sha256));
  const std::string found = hash::sha256_hex(**text);
  if (found != sha256)
    return fail(ErrorCode::bad_policy,
                fmt::format("the text of the policy {} is another one: its SHA-256 is {}", sha256, found));
  auto policy = gate::parse_policy(**text);
  if (!policy)
    return fail(ErrorCode::bad_policy, fmt::format("the policy cannot be read any more: {}", policy.error().message));
  // Rules that nobody wrote down are not missed where nothing measures their metric.
  if (stored.policy_source == "built_in")
    for (gate::Rule& rule : policy->rules) rule.explicit_metric = false;
  return policy;
}

wire::VerdictDocument judged_again(const wire::JudgeInputs& inputs, const gate::Policy& policy,
                                   const wire::VerdictDocument& stored) {
  wire::VerdictDocument now{gate::judge(inputs.runs, inputs.baseline, policy), stored.mode, stored.policy_source,
                            hash::sha256_hex(policy.text)};
  now.verdict.notes.insert(now.verdict.notes.end(), inputs.notes.begin(), inputs.notes.end());
  carry_explanations(stored.verdict, now.verdict);
  return now;
}

/// What lists show is the outcome of the run itself.
void compare_run(const store::RunRecord& run, const wire::VerdictDocument& now, std::vector<std::string>& differences) {
  if (run.outcome == now.verdict.outcome) return;
  differences.push_back(fmt::format("the run: outcome is stored as {}, and judged now as {}",
                                    run.outcome ? gate::word(*run.outcome) : "none", gate::word(now.verdict.outcome)));
}

}  // namespace

Result<wire::ReplayDocument> replay(store::Store& store, const store::RunRecord& run, std::string_view build) {
  if (run.status != store::RunStatus::judged) return fail(ErrorCode::conflict, "the run has no verdict");
  const std::string_view kept = wire::inputs_in(run.verdict_json);
  if (kept.empty())
    return fail(ErrorCode::conflict,
                "the verdict was stored without what the judge was given, by an older version: it cannot be replayed");
  wire::ReplayDocument answer;
  answer.run = run.head.id;
  answer.build_now = build;
  const auto say = [&answer](std::string what) {
    answer.differences.push_back(std::move(what));
    return std::move(answer);
  };
  const auto stored_json = wire::parse_json(wire::document_in(run.verdict_json));
  if (!stored_json) return say(fmt::format("the stored verdict cannot be read: {}", stored_json.error().message));
  answer.stored_json = wire::dump(*stored_json);
  const auto inputs = wire::inputs_from_json(kept);
  if (!inputs) return say(fmt::format("what the judge was given cannot be read: {}", inputs.error().message));
  answer.build_stored = inputs->build;
  const auto stored = wire::verdict_of(*stored_json);
  if (!stored) return say(fmt::format("the stored verdict cannot be read: {}", stored.error().message));

  const Policies text = store.policy(run.head.project, stored->policy_sha256);
  if (!text) return tl::unexpected(text.error());
  const auto policy = policy_of(text, *stored);
  if (!policy) return say(policy.error().message);
  const wire::VerdictDocument now = judged_again(*inputs, *policy, *stored);
  answer.now_json = wire::to_json(now);
  const auto now_json = wire::parse_json(answer.now_json);
  if (!now_json) return tl::unexpected(now_json.error());
  const bool same_build = inputs->build == build;
  answer.differences = wire::differences_of(*stored_json, *now_json,
                                            same_build ? wire::Sameness::to_the_bit : wire::Sameness::what_it_says);
  compare_run(run, now, answer.differences);
  return answer;
}

}  // namespace traceweir::pipeline
