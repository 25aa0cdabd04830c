#include "analyzer/report/json_node.hpp"

#include <fmt/format.h>

#include <cmath>

namespace traceweir::report {
namespace {

/// What a JSON text would cost, told without parsing it. Text that is no JSON gives some numbers.
struct Cost {
  std::size_t depth = 0;   ///< how deep the brackets nest
  std::size_t values = 0;  ///< commas, colons and brackets: not fewer than half of the values
};

Cost cost_of(std::string_view text) {
  Cost cost;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == ',' || c == ':') ++cost.values;
    if (c == '[' || c == '{') cost.depth = std::max(cost.depth, ++depth), ++cost.values;
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return cost;
}

}  // namespace

Result<nlohmann::json> parse_bounded(std::string_view text) {
  const Cost cost = cost_of(text);
  if (cost.depth > json_depth_max)
    return traceweir::fail(ErrorCode::bad_body, fmt::format("nested deeper than {} levels", json_depth_max));
  if (cost.values > json_values_max)
    return traceweir::fail(ErrorCode::bad_body, fmt::format("more than {} values", json_values_max));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return traceweir::fail(ErrorCode::bad_body, fmt::format("byte {}: not JSON", error.byte));
  } catch (const nlohmann::json::exception&) {
    return traceweir::fail(ErrorCode::bad_body, "a number is out of range");
  }
}

Node Node::operator[](std::string_view key) const {
  if (value_ == nullptr || !value_->is_object()) {
    if (value_ != nullptr) fail("an object is needed");
    return {nullptr, this, key, 0};
  }
  const auto member = value_->find(key);
  return {member == value_->end() ? nullptr : &*member, this, key, 0};
}

Node Node::element(std::size_t index) const { return {&(*value_)[index], this, {}, index}; }

std::string Node::text(std::size_t bytes_max) const {
  if (value_ != nullptr && value_->is_string()) return clean_text(value_->get_ref<const std::string&>(), bytes_max);
  fail("a text is needed");
  return {};
}

std::int64_t Node::integer(std::int64_t least, std::int64_t most) const {
  const bool integral = value_ != nullptr && value_->is_number_integer();
  const bool fits =
      integral && (!value_->is_number_unsigned() ||
                   value_->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  const std::int64_t value = fits ? value_->get<std::int64_t>() : least;
  if (!fits || value < least || value > most) {
    fail(fmt::format("an integer from {} to {} is needed", least, most));
    return least;
  }
  return value;
}

Number Node::number() const {
  if (value_ != nullptr && value_->is_number_float()) {
    const double value = value_->get<double>();
    if (std::isfinite(value)) return value;
  }
  if (value_ != nullptr && value_->is_number_integer())
    return integer(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  fail("a number is needed");
  return 0.0;
}

bool Node::is_array(std::size_t count_max) const {
  if (value_ == nullptr || !value_->is_array()) {
    fail("a list is needed");
    return false;
  }
  if (value_->size() <= count_max) return true;
  fail(fmt::format("more than {} entries", count_max));
  return false;
}

bool Node::is_object(std::size_t count_max) const {
  if (value_ == nullptr || !value_->is_object()) {
    fail("an object is needed");
    return false;
  }
  if (value_->size() <= count_max) return true;
  fail(fmt::format("more than {} members", count_max));
  return false;
}

void Node::fail(std::string_view what) const {
  if (*problem_) return;
  const std::string where = path();
  const bool missing = value_ == nullptr;
  *problem_ = Error{ErrorCode::bad_body,
                    fmt::format("{}: {}{}", where.empty() ? "report" : where, missing ? "missing; " : "", what)};
}

std::string Node::path() const {
  if (parent_ == nullptr) return {};
  const std::string above = parent_->path();
  if (key_.empty()) return fmt::format("{}[{}]", above, index_);
  const std::string key = clean_text(key_, 64);
  return above.empty() ? key : above + "." + key;
}

}  // namespace traceweir::report
