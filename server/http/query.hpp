// For: the query part of a request target as a checked list of keys and values.
// Not for: what a key means (api).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::http {

inline constexpr std::size_t query_items_max = 128;

/// The items in the order of the target. Keys and values are decoded, valid UTF-8 and free of NUL.
/// Thread: a value; share freely once made.
class Query {
 public:
  struct Item {
    std::string key;
    std::string value;
    friend bool operator==(const Item&, const Item&) = default;
  };

  Query() = default;

  /// Shape:  `text` is what follows the `?`. `+` is a space, as forms and curl --data-urlencode write it; an empty item
  ///         (`a=1&&b=2`) is skipped; a key without `=` has an empty value.
  /// Errors: bad_query (a broken escape, invalid UTF-8, a NUL, more than query_items_max items, an empty key).
  static Result<Query> parse(std::string_view text);

  [[nodiscard]] std::span<const Item> items() const { return items_; }

  /// The value of a key that may be given once.
  /// Errors: bad_query, naming the key, when it was given twice.
  [[nodiscard]] Result<std::optional<std::string>> one(std::string_view key) const;

  /// The values of a key that may be repeated, in order.
  [[nodiscard]] std::vector<std::string> all(std::string_view key) const;

  /// The items whose key begins with `prefix` (`env.`), with the prefix taken off.
  /// Errors: bad_query, naming the key, when one was given twice or is nothing but the prefix.
  [[nodiscard]] Result<std::vector<Item>> with_prefix(std::string_view prefix) const;

  /// Refuses keys that the caller does not know, so that a typo never keeps a default silently.
  /// Shape:  an entry that ends in `*` allows every key with that beginning (`env.*`).
  /// Errors: bad_query, naming the first unknown key and the known ones.
  [[nodiscard]] Result<void> only(std::initializer_list<std::string_view> known) const;

 private:
  std::vector<Item> items_;
};

}  // namespace traceweir::http
