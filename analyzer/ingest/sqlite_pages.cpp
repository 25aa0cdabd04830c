#include "analyzer/ingest/sqlite_pages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "analyzer/ingest/open_file.hpp"
#include "analyzer/ingest/sqlite_layout.hpp"

namespace traceweir::ingest {
namespace {

// Source: sqlite.org, "Database File Format": a page keeps at least so many bytes for its tree.
constexpr std::size_t usable_bytes_min = 480;
constexpr unsigned char utf8 = 1;

constexpr std::size_t window_bytes = std::size_t{256} << 10;

}  // namespace

Result<SqlitePages> SqlitePages::open(int descriptor) {
  SqlitePages out;
  out.descriptor_ = descriptor;
  TRACEWEIR_TRY(file_bytes, size_of(descriptor));
  std::array<unsigned char, sqlite_header::bytes> header{};
  if (::pread(descriptor, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
    return fail(ErrorCode::io_failed, "the database cannot be read");
  const std::size_t stored =
      std::size_t{header[sqlite_header::page_size_at]} << 8U | header[sqlite_header::page_size_at + 1];
  out.page_bytes_ = sqlite_header::page_bytes_of(stored);
  if (out.page_bytes_ < header[sqlite_header::reserved_at] + usable_bytes_min)
    return fail(ErrorCode::malformed_trace,
                fmt::format("byte {}: the pages have no room for rows", sqlite_header::reserved_at));
  out.usable_bytes_ = out.page_bytes_ - header[sqlite_header::reserved_at];
  const std::uint64_t in_file = std::min<std::uint64_t>(file_bytes / out.page_bytes_, 0xFFFF'FFFEU);
  // Older writers leave the count in the header alone, and its stamp then differs from the change counter.
  const PageNumber stated = four_bytes(header, sqlite_header::page_count_at);
  const bool counted = stated != 0 && four_bytes(header, sqlite_header::change_counter_at) ==
                                          four_bytes(header, sqlite_header::valid_for_at);
  out.count_ = static_cast<PageNumber>(counted ? std::min<std::uint64_t>(stated, in_file) : in_file);
  out.first_free_ = four_bytes(header, sqlite_header::first_free_at);
  out.free_count_ = four_bytes(header, sqlite_header::free_count_at);
  out.has_maps_ = four_bytes(header, sqlite_header::largest_root_at) != 0;
  out.is_utf8_ = header[sqlite_header::encoding_at + 3] == utf8;
  out.window_ = std::make_unique_for_overwrite<unsigned char[]>(window_bytes);  // small files touch little of it
  return out;
}

Result<PageBytes> SqlitePages::page(PageNumber number) {
  if (number < window_first_ || number - window_first_ >= window_pages_) {
    const auto room = static_cast<PageNumber>(window_bytes / page_bytes_);
    ahead_ = number == window_first_ + window_pages_ ? std::min(2 * ahead_, room) : 1;
    if (number == 0 || number > count_) ahead_ = 1;
    const PageNumber pages = std::min(ahead_, number > count_ ? 1 : count_ - number + 1);
    window_pages_ = 0;
    TRACEWEIR_TRY_VOID(read(number, {window_.get(), pages * page_bytes_}));
    window_first_ = number;
    window_pages_ = pages;
  }
  return PageBytes(window_.get() + (number - window_first_) * page_bytes_, usable_bytes_);
}

Result<void> SqlitePages::copy(PageNumber number, std::span<unsigned char> to) const {
  return read(number, to.first(usable_bytes_));
}

Result<void> SqlitePages::read(PageNumber first, std::span<unsigned char> to) const {
  if (first == 0 || first > count_)
    return fail(ErrorCode::malformed_trace, fmt::format("the database is damaged: it has no page {}", first));
  const auto offset = static_cast<off_t>((first - 1) * std::uint64_t{page_bytes_});
  for (std::size_t filled = 0; filled < to.size();) {
    const ssize_t got =
        ::pread(descriptor_, to.data() + filled, to.size() - filled, offset + static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(ErrorCode::io_failed, "the database cannot be read");
    filled += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace traceweir::ingest
