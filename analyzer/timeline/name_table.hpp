// For: interning the names of one Timeline. A trace names a few kernels a million times, or a million ranges once each;
// both must be cheap. Not for: cleaning text; only clean text is stored here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::timeline {

/// Lets a table be searched by a view, without making a string of it.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <typename Value>
using NameMap = std::unordered_map<std::string, Value, NameHash, std::equal_to<>>;

/// Texts by NameId, and NameIds by text.
/// Cost: a look-up hashes the text once; a text is stored once, beside 16 to 32 bytes.
class NameTable {
 public:
  /// The id of a text that was added.
  [[nodiscard]] std::optional<NameId> find(std::string_view text) const;
  /// The id of `text`, added where it is new.
  NameId add(std::string_view text);

  [[nodiscard]] const std::string& text(NameId id) const { return texts_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  /// All texts by id. The table is empty afterwards.
  std::vector<std::string> take() &&;

 private:
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  /// An id and the hash of its text side by side: with a million names each look into memory is far away.
  struct Slot {
    std::uint32_t id;  ///< `none`: free
    std::uint32_t hash;
  };

  std::vector<std::string> texts_;
  std::vector<Slot> slots_;  ///< by hash, open addressing; a power of two of them
};

}  // namespace traceweir::timeline
