// For: a TOML text as a tree of lines and values, so that only one file of the gate sees the TOML library.
// Not for: what keys mean (policy_parse.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::gate {

/// A value, array or table of a policy file.
struct PolicyNode {
  enum class Kind { string, integer, number, boolean, date, array, table };
  Kind kind = Kind::table;
  std::string key;  ///< in its table; empty in an array and for the file itself
  std::int64_t line = 1, column = 1;
  std::string text;  ///< of a string; of a date or time as RFC 3339 writes it
  std::int64_t integer = 0;
  double number = 0;                 ///< of an integer too
  std::vector<PolicyNode> children;  ///< of a table or array, in the order of the file
};

/// "a string", "an integer", …: for messages.
std::string_view kind_word(PolicyNode::Kind kind);

/// Errors: bad_policy, with the line: not UTF-8, too large, no TOML, nested too deeply.
Result<PolicyNode> parse_tree(std::string_view toml);

/// `line 12: rules."gpu.utilization".min: why`: how every message about a policy reads.
tl::unexpected<Error> refuse(const PolicyNode& node, std::string_view path, std::string_view why,
                             ErrorCode code = ErrorCode::bad_policy);

/// `rules."gpu.utilization"`: a key joined to its table's path, quoted where TOML wants it.
std::string path_of(std::string_view table, std::string_view key);

}  // namespace traceweir::gate
