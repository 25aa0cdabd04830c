// For: all rows of one table of a stranger's database, decoded from its pages: several times as fast as by SQLite, and
// checked as it goes, so that nothing needs to check the pages before.
// Not for: tables without row ids, texts that are no UTF-8, conditions (SqliteFile::query).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/sqlite_cell.hpp"
#include "analyzer/ingest/sqlite_owners.hpp"
#include "analyzer/ingest/sqlite_pages.hpp"

namespace traceweir::ingest {

/// Where a value comes from: a field of the row, or its row id where that field is stored as NULL.
struct ScanColumn {
  std::optional<std::size_t> field;  ///< nothing: NULL in every row
  bool is_rowid = false;             ///< an INTEGER PRIMARY KEY
};

/// A tree of rows. Shape: `owners` outlives every scan of it.
struct ScanTree {
  PageNumber root = 0;
  PageOwner owner = PageOwner::nobody;
  PageOwners* owners = nullptr;
};

/// Source: sqlite.org, "Database File Format", section 1.6 and 2.1.
/// Thread: one at a time, as all scans of one file are.
class SqliteScan {
 public:
  static SqliteScan of(SqlitePages pages, ScanTree tree, std::span<const ScanColumn> columns,
                       std::size_t row_bytes_max);

  /// Moves to the next row. false: there is none.
  /// Errors: malformed_trace (names the page), io_failed.
  /// Cost:   each page is read once, however its references run; more is damage, as is a page of another tree.
  Result<bool> next();

  /// Goes through all rows. Errors: as next().
  Result<void> finish();

  /// The row that next() moved to, in the order of `columns`. Shape: texts are valid until the next call;
  /// a cell may be replaced in place.
  [[nodiscard]] std::span<Cell> cells() { return cells_; }
  /// Whether each of them is an integer or NULL, as in nearly all tables.
  [[nodiscard]] bool only_integers() const { return only_integers_; }

 private:
  /// A field that somebody wants, and which cells it goes to.
  struct Wanted {
    std::size_t field;
    std::size_t cell;
    bool is_rowid;
  };
  struct Child {
    PageNumber page;
    std::uint32_t depth;
  };

  /// Where a row stands on its leaf.
  struct Place {
    std::size_t begin;
    std::size_t payload_at;
    std::size_t local_bytes;
    std::size_t end;
    std::uint64_t payload_bytes;
    std::int64_t rowid;
  };

  explicit SqliteScan(SqlitePages pages) : pages_(std::move(pages)) {}
  Result<void> enter(Child child);
  Result<void> push_children(PageBytes page, Child parent);
  Result<void> mark(PageNumber page);
  Result<PageBytes> payload_of(std::size_t row);
  [[nodiscard]] std::optional<Place> place_of(std::size_t row) const;
  [[nodiscard]] bool rows_are_apart() const;
  Result<void> append_overflow(PageNumber page, std::size_t bytes);
  bool decode(PageBytes payload);
  [[nodiscard]] Cell rowid_cell() const { return {.type = Cell::Type::integer, .integer = *rowid_, .text = {}}; }
  [[nodiscard]] tl::unexpected<Error> damaged(std::string_view what) const;

  SqlitePages pages_;
  ScanTree tree_;
  std::vector<Wanted> wanted_;  ///< by field
  std::vector<Cell> cells_;
  bool only_integers_ = true;
  std::size_t row_bytes_max_ = 0;
  std::vector<Child> to_visit_;  ///< the next one last
  std::vector<bool> seen_;       ///< by page
  PageBytes leaf_;
  PageNumber leaf_number_ = 0;
  std::optional<std::uint32_t> leaf_depth_;
  std::size_t leaf_cells_at_ = 0;  ///< where the places of its rows are listed
  std::size_t leaf_cells_ = 0;
  std::size_t lowest_row_ = 0;   ///< of the leaf, so far
  bool rows_are_apart_ = false;  ///< all of the leaf were compared
  std::size_t next_cell_ = 0;
  std::optional<std::int64_t> rowid_;  ///< of the last row
  std::vector<unsigned char> assembled_;
  std::vector<unsigned char> overflow_;
};

}  // namespace traceweir::ingest
