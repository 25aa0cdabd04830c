#include "gate/verdict.hpp"

#include "analyzer/core/words.hpp"

namespace traceweir::gate {
namespace {

constexpr Word<Outcome> outcome_words[] = {
    {Outcome::pass, "pass"}, {Outcome::warn, "warn"}, {Outcome::inconclusive, "inconclusive"}, {Outcome::fail, "fail"}};

constexpr Word<Reason> reason_words[] = {
    {Reason::within, "within"},
    {Reason::better, "better"},
    {Reason::worse_within_noise, "worse_within_noise"},
    {Reason::accepted, "accepted"},
    {Reason::over_limit, "over_limit"},
    {Reason::worse, "worse"},
    {Reason::not_applicable, "not_applicable"},
    {Reason::short_baseline, "short_baseline"},
    {Reason::no_baseline, "no_baseline"},
    {Reason::new_environment, "new_environment"},
    {Reason::not_measured, "not_measured"},
    {Reason::metric_missing, "metric_missing"},
    {Reason::not_comparable, "not_comparable"},
    {Reason::data_loss, "data_loss"},
    {Reason::missing_rank, "missing_rank"},
    {Reason::untrusted_data, "untrusted_data"},
    {Reason::needs_confirmation, "needs_confirmation"},
    {Reason::found, "found"},
};

constexpr int exit_pass = 0, exit_fail = 1, exit_inconclusive = 3;

}  // namespace

std::string_view word(Outcome outcome) { return word_of(outcome_words, outcome); }
std::optional<Outcome> outcome_of(std::string_view text) { return value_of(outcome_words, text); }
std::string_view word(Reason reason) { return word_of(reason_words, reason); }
std::optional<Reason> reason_of(std::string_view text) { return value_of(reason_words, text); }

int exit_code(const Verdict& verdict, Strictness strictness) {
  if (verdict.outcome == Outcome::fail) return exit_fail;
  if (verdict.outcome != Outcome::inconclusive) return exit_pass;
  return verdict.learning && strictness == Strictness::lenient ? exit_pass : exit_inconclusive;
}

}  // namespace traceweir::gate
