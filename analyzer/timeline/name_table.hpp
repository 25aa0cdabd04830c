// For: interning the names of one Timeline. A trace names a few kernels a million times, or a million ranges once each;
// both must be cheap. Not for: cleaning text; only clean text is stored here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::timeline {

/// Texts by NameId, and NameIds by text.
/// Cost: a look-up hashes the text once; a text is stored once, beside twelve bytes.
class NameTable {
 public:
  /// The id of a text that was added.
  [[nodiscard]] std::optional<NameId> find(std::string_view text) const;
  /// The id of `text`, added where it is new.
  NameId add(std::string text);

  [[nodiscard]] const std::string& text(NameId id) const { return texts_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  /// All texts by id. The table is empty afterwards.
  std::vector<std::string> take() &&;

 private:
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  std::vector<std::string> texts_;
  std::vector<std::uint32_t> hashes_;  ///< by id
  std::vector<std::uint32_t> slots_;   ///< ids by hash, open addressing; `none`: free; a power of two of them
};

}  // namespace traceweir::timeline
