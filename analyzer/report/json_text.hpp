// For: JSON that is written as it is said, without a tree of its values: a report's takes a fifth of the time.
// Not for: documents that are changed before they are written (ordered_json.hpp), or reading.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace traceweir::report {

/// One document, from its first bracket to its last. Keys come in the order in which they are said; no key is looked
/// for among the others, so that saying one twice writes it twice. Shape: the text is nlohmann_json's of the same
/// values (`dump`), byte for byte; what is not UTF-8 comes out as U+FFFD.
class JsonText {
 public:
  /// One line without `indent`, else indented by that many spaces.
  explicit JsonText(int indent = -1) : indent_(indent) {}

  template <typename Members>
  void object(const Members& members) {
    begin('{');
    members();
    end('}');
  }

  template <typename Elements>
  void array(const Elements& elements) {
    begin('[');
    elements();
    end(']');
  }

  /// What is said next belongs to this key.
  void key(std::string_view key);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(double number);  ///< finite
  void value(std::nullptr_t);
  template <std::integral Integer>
  void value(Integer number) {
    integer(static_cast<std::int64_t>(number));
  }
  template <typename Value>
  void value(const std::optional<Value>& maybe) {
    if (maybe)
      value(*maybe);
    else
      value(nullptr);
  }

  template <typename Value>
  void member(std::string_view name, const Value& of) {
    key(name);
    value(of);
  }

  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  void begin(char bracket);
  void end(char bracket);
  void before_value();
  void new_line();
  void quoted(std::string_view text);
  void integer(std::int64_t number);

  int indent_;
  int depth_ = 0;
  bool empty_ = true;     ///< nothing was said yet between the last brackets
  bool has_key_ = false;  ///< a key waits for its value
  std::string text_;
};

}  // namespace traceweir::report
