// For: what each page of a stranger's database belongs to, so that none is read as a part of two things.
// Not for: what is on a page of a tree (sqlite_scan.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/sqlite_pages.hpp"

namespace traceweir::ingest {

/// A tree of the database: of its schema, of a table or of an index.
enum class PageOwner : std::uint16_t { nobody = 0, no_tree = 1, schema = 2 };

/// Thread: one at a time.
class PageOwners {
 public:
  /// Knows the pages that belong to no tree: the free ones, maps of pages, the one that stands for a lock.
  /// Errors: malformed_trace (a page is free twice, or there are others than the header counts), io_failed.
  /// Source: sqlite.org, "Database File Format", sections 1.4, 1.5 and 1.8. Cost: a read per 1,000 free pages.
  static Result<PageOwners> open(SqlitePages& pages);

  /// A tree beside the schema's, with its root.
  /// Errors: malformed_trace (another tree has that root, or it is no page).
  Result<PageOwner> add_tree(std::int64_t root);

  /// Says that a page belongs to a tree. Errors: malformed_trace (it belongs to something else, or there is none).
  Result<void> claim(PageNumber page, PageOwner owner) {
    if (page == 0 || page >= owners_.size()) return no_page(page);
    PageOwner& current = owners_[page];
    if (current == owner) return {};
    if (current != PageOwner::nobody) return second_reference(page);
    current = owner;
    return {};
  }

  /// Errors: always malformed_trace.
  static tl::unexpected<Error> no_page(std::int64_t page);
  static tl::unexpected<Error> second_reference(PageNumber page);

 private:
  Result<void> claim_once(PageNumber page);
  Result<void> claim_maps(const SqlitePages& pages);
  Result<void> claim_free_pages(SqlitePages& pages);

  std::vector<PageOwner> owners_;  ///< by page
  PageOwner last_ = PageOwner::schema;
};

}  // namespace traceweir::ingest
