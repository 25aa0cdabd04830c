// For: reading one table of a policy by a table of keys; values by type, with messages that name line and key.
// Not for: the keys themselves (policy_parse.cpp, rule_parse.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "gate/policy_tree.hpp"
#include "gate/suggest.hpp"

namespace traceweir::gate {

/// A key of a table of the grammar, and how its value is read into `Target`.
template <typename Target>
struct KeyRow {
  std::string_view key;
  Result<void> (*read)(const PolicyNode& node, const std::string& path, Target& target);
};

/// Reads every key of `table` in the order of the file.
/// Errors: bad_policy (no table, unknown key), and what the keys' readers say.
template <typename Target>
Result<void> read_table(const PolicyNode& table, const std::string& path, std::span<const KeyRow<Target>> rows,
                        Target& target) {
  if (table.kind != PolicyNode::Kind::table)
    return refuse(table, path, "must be a table, not " + std::string(kind_word(table.kind)));
  std::vector<std::string_view> words;
  for (const auto& row : rows) words.push_back(row.key);
  for (const PolicyNode& child : table.children) {
    const std::string child_path = path_of(path, child.key);
    const KeyRow<Target>* found = nullptr;
    for (const auto& row : rows)
      if (row.key == child.key) found = &row;
    if (!found) return refuse(child, child_path, "unknown key" + suggestion(child.key, words));
    TRACEWEIR_TRY_VOID(found->read(child, child_path, target));
  }
  return {};
}

/// A text of 1 to `bytes_max` bytes without control characters.
/// Errors: bad_policy.
Result<std::string> read_text(const PolicyNode& node, const std::string& path, std::size_t bytes_max);

/// An integer from `min` to `max`.
/// Errors: bad_policy.
Result<std::int64_t> read_integer(const PolicyNode& node, const std::string& path, std::int64_t min, std::int64_t max);

/// A finite number, integers too.
/// Errors: bad_policy.
Result<double> read_number(const PolicyNode& node, const std::string& path);

/// One of `words`.
/// Errors: bad_policy, with the words.
Result<std::string> read_word(const PolicyNode& node, const std::string& path, std::span<const std::string_view> words);

}  // namespace traceweir::gate
