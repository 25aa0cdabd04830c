#include "gate/policy_read.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analyzer/core/text.hpp"

namespace traceweir::gate {
namespace {

tl::unexpected<Error> wrong_kind(const PolicyNode& node, const std::string& path, std::string_view want) {
  return refuse(node, path, fmt::format("must be {}, not {}", want, kind_word(node.kind)));
}

}  // namespace

Result<std::string> read_text(const PolicyNode& node, const std::string& path, std::size_t bytes_max) {
  if (node.kind != PolicyNode::Kind::string) return wrong_kind(node, path, "a string");
  if (node.text.empty()) return refuse(node, path, "must not be empty");
  if (node.text.size() > bytes_max) return refuse(node, path, fmt::format("is longer than {} bytes", bytes_max));
  if (clean_text(node.text, bytes_max) != node.text) return refuse(node, path, "has control characters");
  return node.text;
}

Result<std::int64_t> read_integer(const PolicyNode& node, const std::string& path, std::int64_t min, std::int64_t max) {
  if (node.kind != PolicyNode::Kind::integer) return wrong_kind(node, path, "an integer");
  if (node.integer < min || node.integer > max)
    return refuse(node, path, fmt::format("{} is not from {} to {}", node.integer, min, max));
  return node.integer;
}

Result<double> read_number(const PolicyNode& node, const std::string& path) {
  const bool is_number = node.kind == PolicyNode::Kind::number || node.kind == PolicyNode::Kind::integer;
  if (!is_number) return wrong_kind(node, path, "a number");
  if (!std::isfinite(node.number)) return refuse(node, path, "must be a finite number");
  return node.number;
}

Result<std::string> read_word(const PolicyNode& node, const std::string& path,
                              std::span<const std::string_view> words) {
  if (node.kind != PolicyNode::Kind::string) return wrong_kind(node, path, "a string");
  if (std::find(words.begin(), words.end(), node.text) == words.end())
    return refuse(node, path,
                  fmt::format("\"{}\" is none of {}{}", clean_text(node.text, 64), fmt::join(words, ", "),
                              suggestion(node.text, words)));
  return node.text;
}

}  // namespace traceweir::gate
