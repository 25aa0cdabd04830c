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
  const std::uint32_t id = slots_[slot_of(text, hash_of(text))].id;
  return id == none ? std::nullopt : std::optional(static_cast<NameId>(id));
}

NameId NameTable::add(std::string_view text) {
  // At most half full, so that a search soon meets a free slot.
  if (texts_.size() * 2 >= slots_.size()) grow();
  const std::uint32_t hash = hash_of(text);
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.id == none) {
    TRACEWEIR_ASSERT(texts_.size() < none);
    slot = {static_cast<std::uint32_t>(texts_.size()), hash};
    texts_.emplace_back(text);
  }
  return static_cast<NameId>(slot.id);
}

std::vector<std::string> NameTable::take() && {
  slots_.clear();
  return std::exchange(texts_, {});
}

std::size_t NameTable::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.id == none || (slot.hash == hash && texts_[slot.id] == text)) return at;
  }
}

void NameTable::grow() {
  const std::vector<Slot> before = std::move(slots_);
  slots_.assign(before.empty() ? slots_at_first : before.size() * 2, Slot{none, 0});
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : before) {
    if (slot.id == none) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id != none) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace traceweir::timeline
