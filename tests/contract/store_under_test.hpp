// For: the kinds of store that the contract suite runs on, and what it needs of each besides the Store itself.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <span>
#include <string>

#include "server/store/store.hpp"

namespace traceweir::contract {

/// The value of a Result that has to have one.
template <typename T>
T must(Result<T> result) {
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  return std::move(*result);
}
inline void must(const Result<void>& result) { REQUIRE_MESSAGE(result.has_value(), result.error().message); }

/// The code of a Result that has to have an Error with a message.
template <typename T>
ErrorCode error_of(const Result<T>& result) {
  REQUIRE_FALSE(result.has_value());
  CHECK_FALSE(result.error().message.empty());
  return result.error().code;
}

/// An empty database of its own, removed at the end.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual std::string url() const = 0;
  /// Runs statements of SQL that every database understands on the tables of the store, past the Store.
  virtual void execute(const char* sql) = 0;
  /// The database's own check of its files; empty: sound.
  virtual std::string damage() = 0;
  /// From now on this database has room for about 4 MiB, as long as this process lives or until free_disk().
  virtual void fill_disk() = 0;
  virtual void free_disk() = 0;

  std::unique_ptr<store::Store> open(store::Opening opening = store::Opening::service) const {
    return must(store::open_store(url(), opening));
  }
};

struct StoreKind {
  const char* name;
  std::unique_ptr<StoreUnderTest> (*make)();
};

/// Every kind that is tested.
std::span<const StoreKind> store_kinds();

/// Runs `body(StoreUnderTest&)` on a new store of each kind.
template <typename Body>
void on_each_store(const Body& body) {
  for (const StoreKind& kind : store_kinds()) {
    CAPTURE(kind.name);
    const auto under_test = kind.make();
    body(*under_test);
  }
}

}  // namespace traceweir::contract
