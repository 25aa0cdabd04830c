// For: reading and writing JSON at the service's border, with the limits that a library does not set by itself.
// Header of nlohmann_json on purpose: every file of this room builds documents.
// Not for: what a document holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/report/ordered_json.hpp"

namespace traceweir::wire {

/// Keys stay in the order in which they were written: answers read like the contract.
using Json = report::OrderedJson;

/// Deeper documents are refused before they are built: printing them would exhaust the stack.
inline constexpr int json_depth_max = 64;

/// Errors: bad_body, with the byte of the first mistake, or the depth.
Result<Json> parse_json(std::string_view text);

/// One line; text that is not UTF-8 comes out with U+FFFD, never as an exception.
std::string dump(const Json& json);

/// The value, or null.
template <typename T>
Json nullable(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// The text; null: it is empty.
inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// The texts in a list; what is no text is left out. nullptr: no list, no texts.
std::vector<std::string> texts_of(const Json* list);

/// The object's keys, read one by one and by type. After the last `finish` names a key that nobody asked for.
/// Errors (of every getter, collected): the first one wins; ask `error()` once at the end.
class ObjectReader {
 public:
  explicit ObjectReader(const Json& json);

  std::string text(std::string_view key);                       ///< required
  std::optional<std::string> maybe_text(std::string_view key);  ///< absent or null: nothing
  std::int64_t integer(std::string_view key);                   ///< required
  std::optional<std::int64_t> maybe_integer(std::string_view key);
  double number(std::string_view key);  ///< required
  std::optional<double> maybe_number(std::string_view key);
  bool boolean(std::string_view key);  ///< required
  /// The value under `key`, or nullptr when absent or null.
  const Json* child(std::string_view key);

  /// Records an error of the caller's own about `key`.
  void refuse(std::string_view key, std::string_view why);
  /// Refuses keys that nobody asked for.
  void finish();
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const Json* find(std::string_view key);

  const Json& json_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
};

}  // namespace traceweir::wire
