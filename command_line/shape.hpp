// For: a declared command line as plain values: what pages and completions are made from. The one place here that knows
// CLI11. Not for: parsing (CLI11 does), what a command does.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace traceweir::command_line {

/// One option or positional.
struct Argument {
  std::string name;    ///< `--json`; of a positional its word: `FILE`
  std::string letter;  ///< `-h`; empty: none
  std::string about;
  std::string value;                 ///< what stands for its value: `N`, `FILE`; empty: a flag
  std::vector<std::string> choices;  ///< the only values there are; empty: any
  std::string variable;              ///< of the environment; empty: none
  std::string standard;              ///< value where it is left out, as text; empty: none, or not said
  std::string group;
  bool required = false, repeats = false, takes_files = false;
};

/// A program or one of its commands.
struct Shape {
  std::string name;
  std::string path;  ///< `traceweir policy check`
  std::string about;
  std::string notes;  ///< the text below the options: examples, exit codes
  std::vector<Argument> options;
  std::vector<Argument> positionals;  ///< in their order on the command line
  std::vector<Shape> commands;        ///< in the order of their declaration, without hidden ones
};

/// Shape: options of commands around one that lets them through are among its own.
Shape shape_of(const CLI::App& root);

}  // namespace traceweir::command_line
