#include "gate/policy_tree.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "analyzer/core/text.hpp"
#include "gate/policy.hpp"

namespace traceweir::gate {
namespace {

// The library recurses per level of nesting, when it reads and when it frees, and bounds neither the dots of a key nor
// the tables of a header. A policy is three levels deep; these bounds keep any text far from the end of the stack.
constexpr int brackets_max = 8;
constexpr int dots_per_line_max = 64;

tl::unexpected<Error> refuse_line(std::int64_t line, std::string_view why) {
  return fail(ErrorCode::bad_policy, fmt::format("line {}: {}", line, why));
}

/// Walks a text once, knowing strings and comments, and counts what nests.
class NestingCheck {
 public:
  explicit NestingCheck(std::string_view text) : text_(text) {}

  /// Errors: bad_policy, with the line.
  Result<void> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        next_line();
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        TRACEWEIR_TRY_VOID(skip_string(c));
      } else {
        TRACEWEIR_TRY_VOID(count(c));
      }
    }
    return {};
  }

 private:
  void next_line() {
    ++line_, ++at_;
    dots_ = 0;
  }

  Result<void> count(char c) {
    ++at_;
    if (c == '.' && ++dots_ > dots_per_line_max) return refuse_line(line_, "too many dots for a key");
    if (c == '[' || c == '{') ++brackets_;
    if (c == ']' || c == '}') brackets_ = std::max(0, brackets_ - 1);
    if (brackets_ > brackets_max) return refuse_line(line_, "nested too deeply for a policy");
    return {};
  }

  /// A string ends on its line; where it does not, the TOML parser says so.
  Result<void> skip_string(char quote) {
    if (text_.substr(at_).starts_with(std::string(3, quote)))
      return refuse_line(line_, "a policy has no use for strings of several lines");
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      const bool escapes = quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n';
      at_ += escapes ? std::size_t{2} : std::size_t{1};
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  int dots_ = 0, brackets_ = 0;
};

PolicyNode node_of(const toml::node& node, std::string key);

void add_children(const toml::table& table, PolicyNode& out) {
  for (const auto& [key, child] : table) out.children.push_back(node_of(child, std::string(key.str())));
  // The library sorts keys by name; a policy's rules count in the order of the file.
  std::stable_sort(out.children.begin(), out.children.end(), [](const PolicyNode& a, const PolicyNode& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
}

std::string date_text(const toml::node& node) {
  std::ostringstream out;
  if (const auto* date = node.as_date()) out << date->get();
  if (const auto* time = node.as_time()) out << time->get();
  if (const auto* both = node.as_date_time()) out << both->get();
  return std::move(out).str();
}

PolicyNode node_of(const toml::node& node, std::string key) {
  PolicyNode out;
  out.key = std::move(key);
  out.line = static_cast<std::int64_t>(node.source().begin.line);
  out.column = static_cast<std::int64_t>(node.source().begin.column);
  if (const auto* table = node.as_table()) {
    add_children(*table, out);
  } else if (const auto* array = node.as_array()) {
    out.kind = PolicyNode::Kind::array;
    for (const toml::node& child : *array) out.children.push_back(node_of(child, {}));
  } else if (const auto* text = node.as_string()) {
    out.kind = PolicyNode::Kind::string;
    out.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    out.kind = PolicyNode::Kind::integer;
    out.integer = integer->get();
    out.number = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    out.kind = PolicyNode::Kind::number;
    out.number = number->get();
  } else if (node.is_boolean()) {
    out.kind = PolicyNode::Kind::boolean;
  } else {
    out.kind = PolicyNode::Kind::date;
    out.text = date_text(node);
  }
  return out;
}

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

std::string_view kind_word(PolicyNode::Kind kind) {
  switch (kind) {
    case PolicyNode::Kind::string:
      return "a string";
    case PolicyNode::Kind::integer:
      return "an integer";
    case PolicyNode::Kind::number:
      return "a number";
    case PolicyNode::Kind::boolean:
      return "a boolean";
    case PolicyNode::Kind::date:
      return "a date or time";
    case PolicyNode::Kind::array:
      return "an array";
    case PolicyNode::Kind::table:
      return "a table";
  }
  return "a value";
}

Result<PolicyNode> parse_tree(std::string_view toml) {
  if (toml.size() > policy_bytes_max)
    return fail(ErrorCode::bad_policy,
                fmt::format("the policy has {} bytes, more than {}", toml.size(), policy_bytes_max));
  if (!is_utf8(toml)) return fail(ErrorCode::bad_policy, "the policy is not valid UTF-8");
  TRACEWEIR_TRY_VOID(NestingCheck(toml).run());
  try {
    return node_of(toml::parse(toml), {});
  } catch (const toml::parse_error& error) {
    return refuse_line(static_cast<std::int64_t>(error.source().begin.line), clean_text(error.description(), 256));
  }
}

tl::unexpected<Error> refuse(const PolicyNode& node, std::string_view path, std::string_view why, ErrorCode code) {
  return fail(code, fmt::format("line {}: {}: {}", node.line, path, why));
}

std::string path_of(std::string_view table, std::string_view key) {
  const std::string shown = is_bare_key(key) ? std::string(key) : fmt::format("\"{}\"", clean_text(key, 96));
  return table.empty() ? shown : fmt::format("{}.{}", table, shown);
}

}  // namespace traceweir::gate
