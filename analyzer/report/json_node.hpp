// For: reading untrusted JSON field by field. The first thing that is wrong is remembered with its path; what follows
// yields defaults, so that a reader is a list of fields and one check at its end. Not for: writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "analyzer/core/metric.hpp"
#include "analyzer/core/text.hpp"

namespace traceweir::report {

/// Nesting that a document may have. A deeper one is refused before it is parsed: its value could not be copied or
/// written without overflowing the stack.
inline constexpr std::size_t json_depth_max = 64;
/// Commas, colons and brackets that a document may have: a parsed value takes up to 100 bytes, whatever its text does.
/// A report of a thousand ranks has about two million.
inline constexpr std::size_t json_values_max = 4'000'000;

/// Parses text whose depth is bounded.
/// Errors: bad_body (too deep, or not JSON, with the byte).
Result<nlohmann::json> parse_bounded(std::string_view text);

/// A place in a document. Outlived by the document, its parent and the problem.
class Node {
 public:
  Node(const nlohmann::json& document, std::optional<Error>& problem) : value_(&document), problem_(&problem) {}

  /// The member `key`; reading one that is missing is a problem, unless asked for by is_null.
  [[nodiscard]] Node operator[](std::string_view key) const;

  /// Whether the value is null or missing.
  [[nodiscard]] bool is_null() const { return value_ == nullptr || value_->is_null(); }

  [[nodiscard]] bool is_text() const { return value_ != nullptr && value_->is_string(); }

  /// Cleaned (core/text.hpp).
  [[nodiscard]] std::string text(std::size_t bytes_max = name_bytes_max) const;
  /// Empty for null.
  [[nodiscard]] std::string text_or_null() const { return is_null() ? std::string() : text(); }

  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  /// A count, a size or a duration.
  [[nodiscard]] std::int64_t amount() const { return integer(0, std::numeric_limits<std::int64_t>::max()); }
  /// 0 for null.
  [[nodiscard]] std::int64_t amount_or_null() const { return is_null() ? 0 : amount(); }

  /// Integer or finite double, as it is written.
  [[nodiscard]] Number number() const;

  /// A word of a table, as `of` knows it.
  template <typename Enum>
  [[nodiscard]] Enum word(std::optional<Enum> (*of)(std::string_view)) const {
    const std::string given = text();
    if (const auto value = of(given)) return *value;
    fail("unknown word \"" + given + "\"");
    return Enum{};
  }

  /// Calls `read(Node)` for every element of an array of at most `count_max`.
  template <typename Read>
  void each(std::size_t count_max, Read read) const {
    if (!is_array(count_max)) return;
    for (std::size_t i = 0; i < value_->size() && !*problem_; ++i) read(element(i));
  }

  /// Calls `read(key, Node)` for every member of an object of at most `count_max`.
  template <typename Read>
  void each_member(std::size_t count_max, Read read) const {
    if (!is_object(count_max)) return;
    for (auto member = value_->begin(); member != value_->end() && !*problem_; ++member)
      read(member.key(), (*this)[member.key()]);
  }

  /// Remembers what is wrong here, unless something was wrong before.
  void fail(std::string_view what) const;

 private:
  Node(const nlohmann::json* value, const Node* parent, std::string_view key, std::size_t index)
      : value_(value), parent_(parent), key_(key), index_(index), problem_(parent->problem_) {}

  [[nodiscard]] Node element(std::size_t index) const;
  [[nodiscard]] bool is_array(std::size_t count_max) const;
  [[nodiscard]] bool is_object(std::size_t count_max) const;
  [[nodiscard]] std::string path() const;

  const nlohmann::json* value_;
  const Node* parent_ = nullptr;
  std::string_view key_;  // empty: an element of an array
  std::size_t index_ = 0;
  std::optional<Error>* problem_;
};

}  // namespace traceweir::report
