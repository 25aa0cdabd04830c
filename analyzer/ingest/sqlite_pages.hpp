// For: the pages of a SQLite database as bytes, read from its descriptor. Not for: what is on them (sqlite_scan.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "analyzer/core/error.hpp"

namespace traceweir::ingest {

using PageNumber = std::uint32_t;
using PageBytes = std::span<const unsigned char>;

/// Numbers as they stand on a page. Shape: the bytes are there.
inline std::size_t two_bytes(PageBytes bytes, std::size_t at) { return std::size_t{bytes[at]} << 8U | bytes[at + 1]; }
inline PageNumber four_bytes(PageBytes bytes, std::size_t at) {
  return static_cast<PageNumber>(two_bytes(bytes, at) << 16U | two_bytes(bytes, at + 2));
}

/// Thread: one at a time; several of one file are independent.
class SqlitePages {
 public:
  /// Shape:  the header was checked (sqlite_header.hpp); the descriptor outlives this.
  /// Errors: io_failed, malformed_trace (a page keeps too much of itself for extensions).
  static Result<SqlitePages> open(int descriptor);

  /// One page. Shape: valid until the next call. Errors: malformed_trace (there is no such page), io_failed.
  Result<PageBytes> page(PageNumber number);
  /// The same, into a buffer of usable_bytes(). Errors: as page().
  Result<void> copy(PageNumber number, std::span<unsigned char> to) const;

  [[nodiscard]] PageNumber count() const { return count_; }
  [[nodiscard]] std::size_t page_bytes() const { return page_bytes_; }
  /// Bytes of a page that hold the tree.
  [[nodiscard]] std::size_t usable_bytes() const { return usable_bytes_; }
  /// Whether texts are UTF-8. The other encodings are left to SQLite.
  [[nodiscard]] bool is_utf8() const { return is_utf8_; }
  /// Whether some pages are maps of others, as in a database that shrinks by itself.
  [[nodiscard]] bool has_maps() const { return has_maps_; }
  /// The free pages that the header tells of: the first (0: none), and how many there are.
  [[nodiscard]] PageNumber first_free() const { return first_free_; }
  [[nodiscard]] PageNumber free_count() const { return free_count_; }

 private:
  Result<void> read(PageNumber first, std::span<unsigned char> to) const;

  int descriptor_ = -1;
  std::size_t page_bytes_ = 0;
  std::size_t usable_bytes_ = 0;
  PageNumber count_ = 0;
  bool is_utf8_ = false;
  bool has_maps_ = false;
  PageNumber first_free_ = 0;
  PageNumber free_count_ = 0;
  std::unique_ptr<unsigned char[]> window_;
  PageNumber window_first_ = 0;  ///< 0: nothing is in it
  PageNumber window_pages_ = 0;
  PageNumber ahead_ = 1;  ///< pages to read at once: more while they follow one another
};

}  // namespace traceweir::ingest
