#include "gate/policy_words.hpp"

#include <doctest/doctest.h>

#include "tests/unit/gate/cases.hpp"

using namespace traceweir::gate;
using namespace traceweir::gate::cases;

TEST_CASE("policy in words: rules") {
  struct Row {
    const char* rule;
    const char* words;
  };
  const Row rows[] = {
      {"[rules.\"allreduce.time_mean\"]\nmax = \"50 ms\"\nworse_by = \"10%\"\nat_least = \"0.2 ms\"\n",
       "allreduce.time_mean (lower is better) fails above 50 ms, or where it is worse by more than 10 % and by more "
       "than 0.2 ms "
       "than the mean of at most 30 runs of the base branch, beyond their noise (3 sigmas)."},
      {"[rules.\"gpu.utilization\"]\nmin = \"85%\"\nlevel = \"warn\"\nconfirm = 2\n",
       "gpu.utilization warns below 85 %, once 2 runs of a commit agree."},
      {"[rules.\"*.time_mean\"]\nworse_by = \"5%\"\nnoise = \"none\"\n",
       "*.time_mean fails where it is worse by more than 5 % than the mean of at most 30 runs of the base branch, "
       "whatever their "
       "noise."},
      {"[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\nnoise = \"mad\"\nsigmas = 2.5\n[baseline]\nbranch = \"main\"\npinned "
       "= \"v1\"\n",
       "gpu.idle (lower is better) fails where it is worse by more than 3 pp than the mean of at most 30 runs of main, "
       "beyond their "
       "noise (2.5 sigmas, by their median deviation), or so much worse than v1."},
  };
  for (const Row& row : rows) {
    const Policy policy = policy_of(row.rule);
    CHECK(in_words(policy.rules.front(), policy) == row.words);
  }
  const Policy findings = policy_of("[findings.straggler]\nlevel = \"warn\"\n");
  CHECK(in_words(findings.findings.front()) == "The finding straggler warns where it is made.");
}

TEST_CASE("policy in words: everything else") {
  const Policy policy = policy_of(
      "[baseline]\nbranch = \"main\"\nruns = 40\nepoch = 2026-11-01\npinned = \"v1\"\n[cost]\ngpu_hour = 2.5\n");
  const std::vector<std::string> want{
      "The baseline is the newest 40 runs of main; with fewer than 5 the gate is learning.",
      "Nothing before 2026-11-01 counts.",
      "Every rule against the baseline is also judged against v1, so that small steps do not add up unseen.",
      "Only runs with equal gpu, gpu_count, world_size are compared.",
      "An hour of one GPU costs 2.5.",
  };
  CHECK(in_words(policy) == want);
}
