#include "server/app/variables.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/variables.hpp"
#include "server/app/config.hpp"
#include "server/app/log.hpp"

namespace traceweir::app {
namespace {

/// Read, or written for others, by the client, its templates, docker-compose.yml and copy-store: no misspelt keys.
constexpr std::string_view variables_of_others[] = {"TRACEWEIR_ATTEMPT",
                                                    "TRACEWEIR_BASE",
                                                    "TRACEWEIR_BASE_BRANCH",
                                                    "TRACEWEIR_BRANCH",
                                                    "TRACEWEIR_CI",
                                                    "TRACEWEIR_CI_RUN",
                                                    "TRACEWEIR_CLIENT_SHA256",
                                                    "TRACEWEIR_CLIENT_URL",
                                                    "TRACEWEIR_COMMIT",
                                                    "TRACEWEIR_COMPRESSION",
                                                    "TRACEWEIR_CONFIRM_WITH",
                                                    "TRACEWEIR_CONFIRMATION",
                                                    "TRACEWEIR_COPY_TO",
                                                    "TRACEWEIR_DATABASE_PASSWORD",
                                                    "TRACEWEIR_EXIT_CODE",
                                                    "TRACEWEIR_FORK",
                                                    "TRACEWEIR_HEAD",
                                                    "TRACEWEIR_JOB",
                                                    "TRACEWEIR_JOB_URL",
                                                    "TRACEWEIR_KEY",
                                                    "TRACEWEIR_MATRIX",
                                                    "TRACEWEIR_NSYS",
                                                    "TRACEWEIR_OIDC_TOKEN",
                                                    "TRACEWEIR_ON_UNREACHABLE",
                                                    "TRACEWEIR_OUTCOME",
                                                    "TRACEWEIR_PR",
                                                    "TRACEWEIR_PROJECT",
                                                    "TRACEWEIR_RANK",
                                                    "TRACEWEIR_RANKS",
                                                    "TRACEWEIR_RETRY_TIME_MAX",
                                                    "TRACEWEIR_RUN_KEY",
                                                    "TRACEWEIR_SUMMARY",
                                                    "TRACEWEIR_THREADS",
                                                    "TRACEWEIR_TOKEN",
                                                    "TRACEWEIR_URL",
                                                    "TRACEWEIR_WAIT",
                                                    "TRACEWEIR_WORKLOAD"};

std::vector<std::string> sentences() {
  std::vector<std::string> read;
  for (const ConfigKey& key : config_keys()) read.push_back(variable_of(key.name));
  return command_line::unread_variables(read, variables_of_others);
}

}  // namespace

void log_misspelt_variables() {
  for (const std::string& sentence : sentences()) log(LogLevel::warning, "variable_unread", {{"detail", sentence}});
}

void say_misspelt_variables() {
  for (const std::string& sentence : sentences()) fmt::print(stderr, "traceweird: {}\n", sentence);
}

}  // namespace traceweir::app
