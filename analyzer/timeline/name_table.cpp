#include "analyzer/timeline/name_table.hpp"

#include <functional>
#include <utility>

#include "analyzer/core/assert.hpp"

namespace traceweir::timeline {
namespace {

constexpr std::size_t slots_at_first = 64;

std::uint32_t hash_of(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  return static_cast<std::uint32_t>(hash ^ hash >> 32U);
}

}  // namespace

std::optional<NameId> NameTable::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t id = slots_[slot_of(text, hash_of(text))];
  return id == none ? std::nullopt : std::optional(static_cast<NameId>(id));
}

NameId NameTable::add(std::string text) {
  // At most half full, so that a search soon meets a free slot.
  if (texts_.size() * 2 >= slots_.size()) grow();
  const std::uint32_t hash = hash_of(text);
  std::uint32_t& slot = slots_[slot_of(text, hash)];
  if (slot == none) {
    TRACEWEIR_ASSERT(texts_.size() < none);
    slot = static_cast<std::uint32_t>(texts_.size());
    texts_.push_back(std::move(text));
    hashes_.push_back(hash);
  }
  return static_cast<NameId>(slot);
}

std::vector<std::string> NameTable::take() && {
  slots_.clear();
  hashes_.clear();
  return std::exchange(texts_, {});
}

std::size_t NameTable::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::uint32_t id = slots_[slot];
    if (id == none || (hashes_[id] == hash && texts_[id] == text)) return slot;
  }
}

void NameTable::grow() {
  slots_.assign(slots_.empty() ? slots_at_first : slots_.size() * 2, none);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t id = 0; id < hashes_.size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (slots_[slot] != none) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

}  // namespace traceweir::timeline
