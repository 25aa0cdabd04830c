// For: the type of the JSON documents that we write: keys stay in the order in which they were set.
// Header of nlohmann_json on purpose: those who build documents include this in its place.
// Not for: reading large or strange documents (looking a key up takes as long as the object has keys).
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace traceweir::report {

/// The library's ordered_map, except when an object outgrows its place: that one's keys are const, so that a vector
/// copies all members, with everything in them. Half of the time of writing a report was that. Cost: as the library's.
template <class Key, class T, class Less = std::less<Key>, class Allocator = std::allocator<std::pair<const Key, T>>>
class OrderedMembers : public nlohmann::ordered_map<Key, T, Less, Allocator> {
  using Base = nlohmann::ordered_map<Key, T, Less, Allocator>;

 public:
  using Base::Base;

  /// Nothing moves where the key is there already.
  template <class KeyLike>
  std::pair<typename Base::iterator, bool> emplace(KeyLike&& key, T&& value) {
    if (const auto found = Base::find(key); found != this->end()) return {found, false};
    T own = std::move(value);  // which may lie in a member
    make_room();
    this->emplace_back(std::forward<KeyLike>(key), std::move(own));
    return {std::prev(this->end()), true};
  }

  template <class KeyLike>
  T& operator[](KeyLike&& key) {
    return emplace(std::forward<KeyLike>(key), T{}).first->second;
  }

 private:
  static constexpr std::size_t least_room = 4;

  void make_room() {
    if (this->size() < this->capacity()) return;
    typename Base::Container larger;
    larger.reserve(std::max(least_room, 2 * this->size()));
    for (auto& [key, value] : *this) larger.emplace_back(key, std::move(value));
    Base::Container::swap(larger);
  }
};

using OrderedJson = nlohmann::basic_json<OrderedMembers>;

}  // namespace traceweir::report
