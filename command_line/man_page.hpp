// For: pages of man(1), made from the declared command line: what --help says, and nothing of its own.
// Not for: showing them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "command_line/shape.hpp"

namespace traceweir::command_line {

/// What stands on every page of a program.
struct Manual {
  std::string program;
  std::string section;  ///< `1` commands, `8` services
  std::string version;
};

/// A page as roff for man(7). Commands within a command are sections of its page.
struct ManPage {
  std::string name;  ///< `traceweir-gate.1`
  std::string text;
};

/// The page of the program and one for each of its commands.
std::vector<ManPage> man_pages(const Shape& root, const Manual& manual);

/// Writes every page into `folder`. Errors: io_failed, naming the file.
Result<void> write_man_pages(const Shape& root, const Manual& manual, const std::string& folder);

}  // namespace traceweir::command_line
