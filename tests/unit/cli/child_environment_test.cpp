#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/child_environment.hpp"

using traceweir::cli::ChildEnvironment;

TEST_CASE("child environment: nothing of ours but what is given, everything else as it is") {
  const char* ours[] = {"PATH=/bin",
                        "TRACEWEIR_TOKEN=twr_1_secret",
                        "TRACEWEIR_WEBHOOK=https://x/secret",
                        "TRACEWEIR_URL=http:",
                        "TRACEWEIR_SOMETHING_LATER=secret",
                        "TRACEWEIR_CONFIRMATION=9",
                        "RANK=0",
                        "EMPTY=",
                        nullptr};
  ChildEnvironment environment(ours, {"TRACEWEIR_CONFIRMATION=2"});
  CHECK(environment.items() == std::vector<std::string>{"PATH=/bin", "RANK=0", "EMPTY=", "TRACEWEIR_CONFIRMATION=2"});
  char* const* pointers = environment.pointers();
  CHECK(std::string(pointers[0]) == "PATH=/bin");
  CHECK(pointers[4] == nullptr);
}
