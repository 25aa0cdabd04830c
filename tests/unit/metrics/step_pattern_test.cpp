#include "analyzer/metrics/step_pattern.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace traceweir::metrics;
using traceweir::timeline::StepNaming;

// Why: a name too many or too few moves the window, and with it every ratio.
TEST_CASE("step names by format") {
  struct Row {
    const char* name;
    bool kineto;
    bool nsys;
  };
  const Row rows[] = {
      {"ProfilerStep#4", true, true},    {"ProfilerStep#0012", true, true},
      {"ProfilerStep#", false, true},    {"ProfilerStep#4b", false, true},
      {"ProfilerStep4", false, false},   {"profilerstep#4", false, false},
      {" ProfilerStep#4", false, false}, {"step 4", false, true},
      {"STEP 4", false, true},           {"Step_4", false, true},
      {"step#4", false, true},           {"step # 4", false, true},
      {"step:4", false, true},           {"step: 4", false, true},
      {"iteration 12", false, true},     {"Iteration #12", false, true},
      {"iter_7", false, true},           {"iter7", false, true},
      {"batch 3", false, true},          {"step", false, false},
      {"step ", false, false},           {"step four", false, false},
      {"step 4 of 7", false, false},     {"train_step 4", false, false},
      {"steps 4", false, false},         {"step -4", false, false},
      {"epoch 4", false, false},         {"", false, false},
  };
  const StepPattern kineto(StepNaming::profiler_step, {});
  const StepPattern nsys(StepNaming::nvtx, {});
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(kineto.matches(row.name) == row.kineto);
    CHECK(nsys.matches(row.name) == row.nsys);
  }
}

TEST_CASE("a glob of the caller's replaces the rule") {
  const StepPattern pattern(StepNaming::profiler_step, "train*");
  CHECK(pattern.matches("train_step"));
  CHECK_FALSE(pattern.matches("ProfilerStep#4"));
}

TEST_CASE("globs") {
  struct Row {
    const char* text;
    const char* glob;
    bool want;
  };
  const Row rows[] = {
      {"saxpy", "saxpy", true},
      {"saxpy", "saxp", false},
      {"saxpy", "saxpyy", false},
      {"saxpy", "s*", true},
      {"saxpy", "*y", true},
      {"saxpy", "*", true},
      {"", "*", true},
      {"", "", true},
      {"saxpy", "", false},
      {"saxpy", "?axp?", true},
      {"saxpy", "?????", true},
      {"saxpy", "????", false},
      {"abcbd", "a*bd", true},
      {"abcbdx", "a*bd", false},
      {"aab", "*a*b", true},
      {"Step", "step", false},
      {"a[1]", "a[1]", true},
      {"sté", "st?", true},
      {"sté", "st??", false},
      {"été", "?t?", true},
      {"a*b", "a*b", true},
      {"mississippi", "m*iss*p*i", true},
      {"mississippi", "m*iss*q*i", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CAPTURE(row.glob);
    CHECK(matches_glob(row.text, row.glob) == row.want);
  }
}

// Why: a policy's glob is a stranger's text; with naive backtracking this one takes longer than the universe has.
TEST_CASE("globs do not explode") {
  std::string glob;
  for (int i = 0; i < 200; ++i) glob += "a*";
  CHECK_FALSE(matches_glob(std::string(500, 'a') + "b", glob + "c"));
}
