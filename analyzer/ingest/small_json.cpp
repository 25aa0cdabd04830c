// All that is known of nlohmann_json in this room.
#include "analyzer/ingest/small_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace traceweir::ingest {
namespace {

using Kind = SmallJson::Kind;

/// Builds the value as the parser meets its parts.
class Collector : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(leaf(Kind::boolean, value ? "true" : "false")); }
  bool number_integer(number_integer_t value) override { return add(leaf(Kind::number, fmt::format("{}", value))); }
  bool number_unsigned(number_unsigned_t value) override { return add(leaf(Kind::number, fmt::format("{}", value))); }
  bool number_float(number_float_t, const string_t& spelling) override { return add(leaf(Kind::number, spelling)); }
  bool string(string_t& value) override { return add(leaf(Kind::text, value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Kind::object); }
  bool key(string_t& name) override {
    keys_.back() = name;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception&) override {
    problem = Error{ErrorCode::bad_body, fmt::format("byte {}: no JSON", byte)};
    return false;
  }

  SmallJson root;
  std::optional<Error> problem;

 private:
  static SmallJson leaf(Kind kind, std::string text) {
    SmallJson value;
    value.kind = kind;
    value.text = std::move(text);
    return value;
  }

  bool open(Kind kind) {
    if (open_.size() == small_json_depth_max) {
      problem = Error{ErrorCode::bad_body, fmt::format("nested deeper than {}", small_json_depth_max)};
      return false;
    }
    open_.push_back(leaf(kind, {}));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    SmallJson done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(done));
  }

  bool add(SmallJson value) {
    if (open_.empty())
      root = std::move(value);
    else if (open_.back().kind == Kind::array)
      open_.back().items.push_back(std::move(value));
    else
      open_.back().members.push_back({keys_.back(), std::move(value)});
    return true;
  }

  std::vector<SmallJson> open_;
  std::vector<std::string> keys_;  ///< the last key of each open value
};

}  // namespace

const SmallJson* SmallJson::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const JsonMember& m) { return m.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

Result<SmallJson> parse_small_json(std::string_view text) {
  Collector collector;
  const bool parsed = nlohmann::json::sax_parse(text, &collector);
  if (parsed && !collector.problem) return std::move(collector.root);
  return tl::unexpected(collector.problem.value_or(Error{ErrorCode::bad_body, "no JSON"}));
}

}  // namespace traceweir::ingest
