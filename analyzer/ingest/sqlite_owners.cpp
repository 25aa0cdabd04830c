#include "analyzer/ingest/sqlite_owners.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <limits>

#include "analyzer/core/assert.hpp"

namespace traceweir::ingest {
namespace {

// Source: "Database File Format", section 1.4: this byte is locked and never read, so its page holds nothing.
constexpr std::uint64_t lock_byte = 0x4000'0000;
// Section 1.8: a map of pages has so many bytes for each page behind it.
constexpr std::size_t map_entry_bytes = 5;
constexpr PageNumber first_map = 2;

}  // namespace

Result<PageOwners> PageOwners::open(SqlitePages& pages) {
  PageOwners out;
  out.owners_.resize(std::size_t{pages.count()} + 1);
  TRACEWEIR_TRY_VOID(out.claim(1, PageOwner::schema));
  TRACEWEIR_TRY_VOID(out.claim_maps(pages));
  TRACEWEIR_TRY_VOID(out.claim_free_pages(pages));
  return out;
}

Result<PageOwner> PageOwners::add_tree(std::int64_t root) {
  if (root < 1 || root > std::numeric_limits<PageNumber>::max()) return no_page(root);
  const auto page = static_cast<PageNumber>(root);
  const auto next = static_cast<std::uint32_t>(last_) + 1;
  TRACEWEIR_ASSERT(next <= std::numeric_limits<std::uint16_t>::max());
  last_ = static_cast<PageOwner>(next);
  TRACEWEIR_TRY_VOID(claim(page, last_));
  return last_;
}

Result<void> PageOwners::claim_once(PageNumber page) {
  if (page < owners_.size() && owners_[page] != PageOwner::nobody) return second_reference(page);
  return claim(page, PageOwner::no_tree);
}

Result<void> PageOwners::claim_maps(const SqlitePages& pages) {
  const std::uint64_t lock_page = lock_byte / pages.page_bytes() + 1;
  if (lock_page <= pages.count()) TRACEWEIR_TRY_VOID(claim_once(static_cast<PageNumber>(lock_page)));
  if (!pages.has_maps()) return {};
  const std::uint64_t apart = pages.usable_bytes() / map_entry_bytes + 1;
  for (std::uint64_t page = first_map; page <= pages.count(); page += apart) {
    const std::uint64_t map = page == lock_page ? page + 1 : page;
    if (map <= pages.count()) TRACEWEIR_TRY_VOID(claim_once(static_cast<PageNumber>(map)));
  }
  return {};
}

/// Free pages form a chain; each page of the chain lists more of them. As every page is claimed once, it ends.
Result<void> PageOwners::claim_free_pages(SqlitePages& pages) {
  constexpr std::size_t count_at = 4;
  constexpr std::size_t list_at = 8;
  std::uint64_t found = 0;
  for (PageNumber next = pages.first_free(); next != 0;) {
    TRACEWEIR_TRY_VOID(claim_once(next));
    TRACEWEIR_TRY(page, pages.page(next));
    const std::size_t listed = four_bytes(page, count_at);
    if (listed > (page.size() - list_at) / 4)
      return fail(ErrorCode::malformed_trace,
                  fmt::format("the database is damaged: page {} lists more free pages than it can hold", next));
    for (std::size_t i = 0; i < listed; ++i) TRACEWEIR_TRY_VOID(claim_once(four_bytes(page, list_at + 4 * i)));
    found += 1 + listed;
    next = four_bytes(page, 0);
  }
  if (found == pages.free_count()) return {};
  return fail(
      ErrorCode::malformed_trace,
      fmt::format("the database is damaged: {} free pages, and its header counts {}", found, pages.free_count()));
}

tl::unexpected<Error> PageOwners::no_page(std::int64_t page) {
  return fail(ErrorCode::malformed_trace, fmt::format("the database is damaged: it has no page {}", page));
}

tl::unexpected<Error> PageOwners::second_reference(PageNumber page) {
  return fail(ErrorCode::malformed_trace, fmt::format("the database is damaged: a second reference to page {}", page));
}

}  // namespace traceweir::ingest
