#include "analyzer/ingest/sqlite_schema_size.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

#include "analyzer/ingest/sqlite_layout.hpp"

namespace traceweir::ingest {
namespace {

using Page = std::vector<unsigned char>;

std::size_t number_at(const Page& page, std::size_t at, std::size_t bytes) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) number = number << 8U | page[at + i];
  return number;
}

/// Walks over the tree of the schema and counts the rows in its leaves.
class Count {
 public:
  Count(int descriptor, std::size_t page_bytes, std::int64_t rows_max)
      : descriptor_(descriptor), page_(page_bytes), rows_max_(rows_max) {}

  Result<void> run() {
    // A tree of few rows has few pages: each page of a sound one holds at least one row or leads to one.
    const auto pages_max = static_cast<std::size_t>(4 * rows_max_ + 16);
    std::vector<std::size_t> to_visit = {1};
    for (std::size_t visited = 0; !to_visit.empty(); ++visited) {
      const std::size_t number = to_visit.back();
      to_visit.pop_back();
      if (visited > pages_max || to_visit.size() > pages_max) return too_many();
      TRACEWEIR_TRY_VOID(visit(number, to_visit));
      if (rows_ > rows_max_) return too_many();
    }
    return {};
  }

 private:
  [[nodiscard]] tl::unexpected<Error> too_many() const {
    return fail(ErrorCode::malformed_trace,
                fmt::format("the database has more than {} tables, views and indexes", rows_max_));
  }

  Result<void> visit(std::size_t number, std::vector<std::size_t>& to_visit) {
    const tl::unexpected<Error> damaged =
        fail(ErrorCode::malformed_trace, fmt::format("the database is damaged: page {} is none of its schema", number));
    if (number == 0 || !read(number)) return damaged;
    const std::size_t tree = number == 1 ? sqlite_header::bytes : 0;
    const std::size_t cells = number_at(page_, tree + sqlite_tree::cell_count_at, 2);
    const unsigned char kind = page_[tree + sqlite_tree::kind_at];
    const std::size_t cells_at =
        tree + (kind == sqlite_tree::interior ? sqlite_tree::interior_cells_at : sqlite_tree::leaf_cells_at);
    if ((kind != sqlite_tree::interior && kind != sqlite_tree::leaf) || cells_at + 2 * cells > page_.size())
      return damaged;
    if (kind == sqlite_tree::leaf) {
      rows_ += static_cast<std::int64_t>(cells);
      return {};
    }
    to_visit.push_back(number_at(page_, tree + sqlite_tree::last_child_at, 4));
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::size_t at = number_at(page_, cells_at + 2 * cell, 2);
      if (at + 4 > page_.size()) return damaged;
      to_visit.push_back(number_at(page_, at, 4));
    }
    return {};
  }

  bool read(std::size_t number) {
    const std::size_t offset = (number - 1) * page_.size();
    return ::pread(descriptor_, page_.data(), page_.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(page_.size());
  }

  int descriptor_;
  Page page_;
  std::int64_t rows_max_;
  std::int64_t rows_ = 0;
};

}  // namespace

Result<void> check_schema_size(int descriptor, std::int64_t rows_max) {
  Page header(sqlite_header::bytes);
  if (::pread(descriptor, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
    return fail(ErrorCode::io_failed, "the database cannot be read");
  const std::size_t stored = number_at(header, sqlite_header::page_size_at, 2);
  return Count(descriptor, sqlite_header::page_bytes_of(stored), rows_max).run();
}

}  // namespace traceweir::ingest
