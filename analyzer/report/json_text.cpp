#include "analyzer/report/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace traceweir::report {
namespace {

/// What stands between quotes as it is. Everything else is escaped, or looked at, by the library.
bool is_plain(char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

std::string dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void JsonText::begin(char bracket) {
  before_value();
  text_ += bracket;
  ++depth_;
  empty_ = true;
}

void JsonText::end(char bracket) {
  --depth_;
  if (!empty_) new_line();
  text_ += bracket;
  empty_ = false;
}

void JsonText::key(std::string_view key) {
  before_value();
  quoted(key);
  text_ += indent_ < 0 ? ":" : ": ";
  has_key_ = true;
}

void JsonText::value(std::string_view text) {
  before_value();
  quoted(text);
}

void JsonText::value(double number) {
  before_value();
  text_ += dumped(number);
}

void JsonText::value(std::nullptr_t) {
  before_value();
  text_ += "null";
}

void JsonText::integer(std::int64_t number) {
  before_value();
  text_ += fmt::format_int(number).c_str();
}

void JsonText::before_value() {
  if (has_key_) {
    has_key_ = false;
    return;
  }
  if (!empty_) text_ += ',';
  if (depth_ > 0) new_line();
  empty_ = false;
}

void JsonText::new_line() {
  if (indent_ < 0) return;
  text_ += '\n';
  text_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(depth_), ' ');
}

void JsonText::quoted(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    text_ += dumped(text);
    return;
  }
  text_ += '"';
  text_ += text;
  text_ += '"';
}

}  // namespace traceweir::report
