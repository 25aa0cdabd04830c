#include "gate/sentences.hpp"

#include <fmt/format.h>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "analyzer/core/words.hpp"
#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

constexpr Word<NotMeasured> advice_rows[] = {
    {NotMeasured::no_gpu_work, "Profile with CUDA activities: ProfilerActivity.CUDA, or nsys profile -t cuda,nvtx."},
    {NotMeasured::no_steps,
     "Mark the steps of the training loop: torch.profiler's step(), or NVTX ranges named \"step N\"."},
    {NotMeasured::few_steps, "Profile more steps: at least four, better ten or more."},
    {NotMeasured::no_comm, "Profile a job that communicates, or take the rule out of this workload's policy."},
    {NotMeasured::no_copies, "Take the rule out of this workload's policy: the job copies nothing of this kind."},
    {NotMeasured::no_sizes, "Record message sizes: a PyTorch version that writes collective metadata into its traces."},
    {NotMeasured::unknown_memory_kind, "Gate on another metric: this trace does not tell pageable from pinned memory."},
    {NotMeasured::graph_opaque, "Trace CUDA graphs by node: nsys profile --cuda-graph-trace=node."},
    {NotMeasured::no_host_calls, "Record host calls: CPU activities in torch.profiler, --trace=cuda in nsys."},
    {NotMeasured::single_rank, "Upload one trace per rank: this metric compares ranks."},
    {NotMeasured::ranks_apart, "Upload the traces instead of reports: this metric matches the calls of all ranks."},
    {NotMeasured::no_such_table, "Export the trace with the tables that this metric reads."},
    {NotMeasured::untrusted_data, "Profile all ranks in the same way: their data do not fit together."},
};

/// Why a metric has no value, in words.
constexpr Word<NotMeasured> why_rows[] = {
    {NotMeasured::no_gpu_work, "the trace has no GPU work"},
    {NotMeasured::no_steps, "no steps are marked"},
    {NotMeasured::few_steps, "too few steps"},
    {NotMeasured::no_comm, "no communication"},
    {NotMeasured::no_copies, "no such copies"},
    {NotMeasured::no_sizes, "the trace has no message sizes"},
    {NotMeasured::unknown_memory_kind, "the trace does not tell pageable from pinned memory"},
    {NotMeasured::graph_opaque, "CUDA graphs are traced as a whole"},
    {NotMeasured::no_host_calls, "the trace has no host calls"},
    {NotMeasured::single_rank, "there is one rank"},
    {NotMeasured::ranks_apart, "the ranks were analysed apart"},
    {NotMeasured::no_such_table, "the trace lacks a table"},
    {NotMeasured::untrusted_data, "its data cannot be right"},
};

/// As much of a commit's id as tells commits apart.
constexpr std::size_t commit_digits = 12;

std::string_view branch_of(const SentenceFacts& facts) {
  return facts.branch.empty() ? std::string_view("the baseline branch") : std::string_view(facts.branch);
}

std::string observed_text(const RuleResult& r, const SentenceFacts& facts) {
  return r.observed ? human(*r.observed, facts.unit) : "not measured";
}

std::string tolerance_text(const RuleResult& r) {
  return r.tolerance.empty() ? std::string() : fmt::format(", tolerance {}", spaced(r.tolerance));
}

/// "gpu.idle rose from 10.9 % to 12.0 %", "gpu.idle is unchanged at 10.9 %".
std::string change(const RuleResult& r, const SentenceFacts& facts) {
  const HumanPair pair = human_pair(r.baseline->level, *r.observed, facts.unit);
  const bool is_none = facts.unchanged || rounds_to_nothing(*r.delta, r.baseline->level, facts.unit);
  if (pair.from == pair.to || (r.reason == Reason::within && is_none))
    return fmt::format("{} is unchanged at {}", r.metric, observed_text(r, facts));
  return fmt::format("{} {} from {} to {}", r.metric, *r.delta > 0 ? "rose" : "fell", pair.from, pair.to);
}

/// "mean of 5 runs of this commit, this run 73.1 %"; empty where the value is that of this run alone.
std::string mean_text(const RuleResult& r, const SentenceFacts& facts) {
  if (!facts.this_run) return {};
  return fmt::format("mean of {} of this commit, this run {}", counted(r.confirm_have, "run"),
                     human(*facts.this_run, facts.unit));
}
/// The same, as it stands behind a value or a sentence, and inside the brackets of a change.
std::string mean_in_brackets(const RuleResult& r, const SentenceFacts& facts) {
  return facts.this_run ? fmt::format(" ({})", mean_text(r, facts)) : std::string();
}
std::string mean_after_change(const RuleResult& r, const SentenceFacts& facts) {
  return facts.this_run ? fmt::format("; {}", mean_text(r, facts)) : std::string();
}

/// " since v1.4", where a pinned level is compared with.
std::string since_text(const RuleResult& r) {
  return r.against.empty() ? std::string() : fmt::format(" since {}", clean_text(r.against, 80));
}

std::string comparison(const RuleResult& r, const SentenceFacts& facts) {
  return fmt::format("{}{} ({}{}{})", change(r, facts), since_text(r),
                     human_delta(*r.delta, r.baseline->level, facts.unit), tolerance_text(r),
                     mean_after_change(r, facts));
}

/// "allreduce.time_mean is 52.0 ms, above the limit of 50 ms".
std::string against_limit(const RuleResult& r, const SentenceFacts& facts) {
  const std::string_view side = facts.limit_is_min ? "below the minimum" : "above the limit";
  return fmt::format("{} is {}, {} of {}{}", r.metric, observed_text(r, facts), side, spaced(r.limit->text),
                     mean_in_brackets(r, facts));
}

std::string holding_limit(const RuleResult& r, const SentenceFacts& facts) {
  const std::string value = fmt::format("{} is {}", r.metric, observed_text(r, facts));
  const std::string limit =
      r.limit ? fmt::format(", within the {} of {}", facts.limit_is_min ? "minimum" : "limit", spaced(r.limit->text))
              : std::string();
  return value + limit + mean_in_brackets(r, facts);
}

std::string noise_text(const SentenceFacts& facts) {
  const std::string size = facts.unit == Unit::ratio ? fmt::format("{:.1f} pp", facts.noise_band * 100)
                                                     : human(facts.noise_band, facts.unit);
  return fmt::format("the noise of the baseline reaches {}", size);
}

std::string sentence_within(const RuleResult& r, const SentenceFacts& facts) {
  return r.delta && !r.tolerance.empty() ? comparison(r, facts) : holding_limit(r, facts);
}
std::string sentence_better(const RuleResult& r, const SentenceFacts& facts) {
  return fmt::format("{}: better", comparison(r, facts));
}
std::string sentence_broken(const RuleResult& r, const SentenceFacts& facts) {
  return facts.by_limit ? against_limit(r, facts) : comparison(r, facts);
}
std::string sentence_noisy(const RuleResult& r, const SentenceFacts& facts) {
  if (facts.by_limit)
    return fmt::format("{}, but fewer than {} of its {} runs are", against_limit(r, facts), r.confirm_want,
                       r.confirm_have);
  if (r.confirm_want > 1 && r.confirm_have >= r.confirm_want)
    return fmt::format("{}: its {} runs do not agree beyond the noise", comparison(r, facts), r.confirm_have);
  return fmt::format("{}, but {}", comparison(r, facts), noise_text(facts));
}
std::string sentence_unconfirmed(const RuleResult& r, const SentenceFacts& facts) {
  return fmt::format("{}: {} of {} runs that must agree", sentence_broken(r, facts), r.confirm_have, r.confirm_want);
}
std::string sentence_learning(const RuleResult& r, const SentenceFacts& facts) {
  const std::string_view where = r.reason == Reason::new_environment ? " in a new environment" : "";
  return fmt::format("learning {}/{}{}: {}", facts.runs_have, facts.runs_want, where, holding_limit(r, facts));
}
std::string sentence_accepted(const RuleResult& r, const SentenceFacts& facts) {
  const Acceptance* accepted = facts.acceptance;
  if (!accepted) return sentence_broken(r, facts);
  const std::string who = accepted->author.empty() ? "was accepted" : clean_text(accepted->author, 64) + " accepted";
  const std::string why = accepted->reason.empty() ? "" : fmt::format(": \"{}\"", clean_text(accepted->reason, 120));
  return fmt::format("{} is {}{}, at the level that {}{}", r.metric, observed_text(r, facts),
                     mean_in_brackets(r, facts), who, why);
}
std::string sentence_not_comparable(const RuleResult& r, const SentenceFacts& facts) {
  if (!facts.misfit.empty())
    return fmt::format("{} is {}{}, and {}", r.metric, observed_text(r, facts), mean_in_brackets(r, facts),
                       facts.misfit);
  if (facts.pinned_is_missing)
    return fmt::format("{} is {}{}, and {}, which the policy pins, has no value of it", r.metric,
                       observed_text(r, facts), mean_in_brackets(r, facts), clean_text(r.against, 80));
  return fmt::format("{} is {}{}, and no run of {} has this environment ({} of others)", r.metric,
                     observed_text(r, facts), mean_in_brackets(r, facts), branch_of(facts),
                     counted(facts.other_class_runs, "run"));
}
std::string sentence_absent(const RuleResult& r, const SentenceFacts& facts) {
  const std::string why = facts.why_none ? fmt::format(" ({})", word_of(why_rows, *facts.why_none)) : std::string();
  if (r.reason == Reason::metric_missing)
    return fmt::format("{} is missing from this run{}, and the baseline has it", r.metric, why);
  if (r.reason == Reason::not_applicable)
    return fmt::format("{} is measured neither by this run{} nor by its baseline", r.metric, why);
  if (r.reason == Reason::untrusted_data)
    return fmt::format("{} cannot be judged: the data of the ranks do not fit together", r.metric);
  return fmt::format("{} was not measured{}", r.metric, why);
}
std::string sentence_obstacle(const RuleResult& r, const SentenceFacts& facts) {
  return fmt::format("{} cannot be judged: {}", r.metric, facts.obstacle);
}

std::string next_nothing(const RuleResult&, const SentenceFacts& facts) {
  if (!facts.nearly_blind) return {};
  return fmt::format("This rule is nearly blind: {}. More runs of {} or a quieter machine narrow it.",
                     noise_text(facts), branch_of(facts));
}
std::string next_broken(const RuleResult& r, const SentenceFacts& facts) {
  if (facts.by_limit)
    return fmt::format("Bring {} {} {}, or change {} of its rule in the policy.", r.metric,
                       facts.limit_is_min ? "up to" : "down to", spaced(r.limit->text),
                       facts.limit_is_min ? "min" : "max");
  const std::string commit =
      r.baseline->commit.empty()
          ? std::string()
          : fmt::format(" (commit {})", clean_text(r.baseline->commit.substr(0, commit_digits), 64));
  return fmt::format("Compare with run {}{} and look at what changed since.", clean_text(r.baseline->last, 64), commit);
}
std::string next_noisy(const RuleResult& r, const SentenceFacts& facts) {
  const std::string blind = next_nothing(r, facts);
  return fmt::format("Run the job again for this commit: more runs tell a change from noise.{}{}",
                     blind.empty() ? "" : " ", blind);
}
std::string next_unconfirmed(const RuleResult& r, const SentenceFacts&) {
  return fmt::format("Run the job again for this commit: {} must agree before {} fails.",
                     counted(r.confirm_want - r.confirm_have, "more run"), r.metric);
}
std::string next_learning(const RuleResult& r, const SentenceFacts& facts) {
  return fmt::format(
      "Upload {} of {}{}; {}.", counted(facts.runs_want - facts.runs_have, "more run"), branch_of(facts),
      facts.other_class_runs > 0 ? " in this environment" : "",
      r.reason == Reason::new_environment ? "its first ones become its baseline" : "then this rule is judged");
}
std::string next_not_comparable(const RuleResult& r, const SentenceFacts& facts) {
  if (!facts.misfit.empty()) return facts.misfit_next;
  if (facts.pinned_is_missing)
    return fmt::format("Upload a run of {}, or pin another tag or run (baseline.pinned).", clean_text(r.against, 80));
  return fmt::format("Run {} in this environment, or this commit in the environment of its baseline.",
                     branch_of(facts));
}
std::string next_absent(const RuleResult& r, const SentenceFacts& facts) {
  if (facts.why_none) return std::string(advice_for(*facts.why_none));
  return fmt::format("Check how the job is profiled: the trace has nothing that {} is measured from.", r.metric);
}
/// The baseline shows that it can be measured, and a run that did.
std::string next_missing(const RuleResult& r, const SentenceFacts& facts) {
  const std::string run = r.baseline ? clean_text(r.baseline->last, 64) : std::string(branch_of(facts));
  const std::string why = facts.why_none ? fmt::format(" {}", advice_for(*facts.why_none)) : std::string();
  return fmt::format("Profile the job as for run {}, which has {}.{}", run, r.metric, why);
}
std::string next_obstacle(const RuleResult&, const SentenceFacts& facts) { return facts.obstacle_next; }
/// A job need not have what a pattern matches, but it has GPU work: without any, it was profiled wrongly.
std::string next_not_applicable(const RuleResult&, const SentenceFacts& facts) {
  return std::string(facts.why_none == NotMeasured::no_gpu_work ? advice_for(*facts.why_none) : std::string_view());
}
std::string next_accepted(const RuleResult& r, const SentenceFacts& facts) {
  const Acceptance* accepted = facts.acceptance;
  if (!accepted) return fmt::format("Nothing, or undo the acceptance of {}.", r.metric);
  const std::string until = accepted->until.empty() ? "" : fmt::format(", until {}", clean_text(accepted->until, 40));
  return fmt::format("Nothing: it is the baseline from run {} on{}; undo the acceptance to raise the alarm again.",
                     clean_text(accepted->run, 64), until);
}

using Writer = std::string (*)(const RuleResult&, const SentenceFacts&);
struct SentenceRow {
  Reason reason;
  Writer sentence, next;
};
constexpr SentenceRow sentence_rows[] = {
    {Reason::within, &sentence_within, &next_nothing},
    {Reason::better, &sentence_better, &next_nothing},
    {Reason::worse_within_noise, &sentence_noisy, &next_noisy},
    {Reason::accepted, &sentence_accepted, &next_accepted},
    {Reason::over_limit, &sentence_broken, &next_broken},
    {Reason::worse, &sentence_broken, &next_broken},
    {Reason::not_applicable, &sentence_absent, &next_not_applicable},
    {Reason::short_baseline, &sentence_learning, &next_learning},
    {Reason::no_baseline, &sentence_learning, &next_learning},
    {Reason::new_environment, &sentence_learning, &next_learning},
    {Reason::not_measured, &sentence_absent, &next_absent},
    {Reason::metric_missing, &sentence_absent, &next_missing},
    {Reason::not_comparable, &sentence_not_comparable, &next_not_comparable},
    {Reason::data_loss, &sentence_obstacle, &next_obstacle},
    {Reason::missing_rank, &sentence_obstacle, &next_obstacle},
    {Reason::untrusted_data, &sentence_absent, &next_absent},
    {Reason::needs_confirmation, &sentence_unconfirmed, &next_unconfirmed},
};

const SentenceRow& row_of(Reason reason) {
  for (const SentenceRow& row : sentence_rows)
    if (row.reason == reason) return row;
  TRACEWEIR_ASSERT(!"every reason of a metric's rule has its sentences");
}

}  // namespace

std::string sentence_for(const RuleResult& result, const SentenceFacts& facts) {
  return row_of(result.reason).sentence(result, facts);
}

std::string next_for(const RuleResult& result, const SentenceFacts& facts) {
  return row_of(result.reason).next(result, facts);
}

std::string_view advice_for(NotMeasured reason) { return word_of(advice_rows, reason); }

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace traceweir::gate
