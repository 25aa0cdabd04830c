// For: the options of `traceweir gate`. Not for: what it does with them (gate.cpp, sending.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/ci_facts.hpp"
#include "cli/connection.hpp"
#include "cli/outputs.hpp"
#include "cli/reading.hpp"

namespace CLI {
class App;
}

namespace traceweir::cli {

struct GateOptions {
  ConnectionOptions connection;
  ReadingOptions reading;
  std::vector<std::string> files;
  std::map<Fact, std::string> given;  ///< by flags; empty: not given
  std::string ci;
  std::string policy, workload, key, run_key;
  std::optional<std::int64_t> rank, ranks;
  std::vector<std::string> environment;
  std::int64_t wait = 300;
  std::string on_unreachable = "fail", compression = "zstd", confirm_with;
  OutputFiles outputs;
  bool explain_ci = false, json = false, strict = false, dry_run = false, edge = false;
  std::vector<std::string> variables;  ///< TRACEWEIR_* variables that are read
};

void add_gate_options(CLI::App& app, GateOptions& options);

}  // namespace traceweir::cli
