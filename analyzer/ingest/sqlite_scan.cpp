#include "analyzer/ingest/sqlite_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "analyzer/ingest/sqlite_layout.hpp"

namespace traceweir::ingest {
namespace {

constexpr std::size_t next_overflow_bytes = 4;
// A tree as deep as SQLite itself follows one.
constexpr std::uint32_t depth_max = 20;

/// The number at `at`, which moves behind it; nothing: the bytes end before it does.
inline bool take_varint(PageBytes bytes, std::size_t& at, std::uint64_t& value) {
  constexpr std::size_t bytes_max = 9;
  if (at < bytes.size() && bytes[at] < 0x80) return value = bytes[at++], true;
  value = 0;
  for (std::size_t i = 0; i < bytes_max && at < bytes.size(); ++i) {
    const std::uint64_t byte = bytes[at++];
    if (i + 1 == bytes_max) return value = value << 8U | byte, true;
    value = value << 7U | (byte & 0x7FU);
    if (byte < 0x80) return true;
  }
  return false;
}

/// Source: "Database File Format", section 2.1: bytes of the types 0 to 9; 10 and 11 are in no file.
constexpr unsigned char bytes_of_numbers[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
constexpr std::uint64_t real_type = 7;
constexpr std::uint64_t zero_type = 8;
constexpr std::uint64_t first_blob_type = 12;

/// Bytes of the types that are written as one byte, which nearly all are; `no_type`: in no file.
constexpr unsigned char no_type = 0xFF;
constexpr std::array<unsigned char, 128> bytes_of_type = [] {
  std::array<unsigned char, 128> out{};
  for (std::size_t type = 0; type < out.size(); ++type) {
    out[type] = no_type;
    if (type < std::size(bytes_of_numbers)) out[type] = bytes_of_numbers[type];
    if (type >= first_blob_type) out[type] = static_cast<unsigned char>((type - first_blob_type) / 2);
  }
  return out;
}();

/// What the header of a row says of one field.
struct Field {
  std::uint64_t type;
  std::uint64_t bytes;
};

/// The field at `at` of a header, which moves behind it. false: there is none of such a type.
inline bool take_field(PageBytes header, std::size_t& at, Field& out) {
  if (header[at] < bytes_of_type.size()) {
    out.type = header[at++];
    out.bytes = bytes_of_type[out.type];
    return out.bytes != no_type;
  }
  if (!take_varint(header, at, out.type)) return false;
  const bool is_small = out.type < bytes_of_type.size();  // written longer than it needs to be
  out.bytes = is_small ? bytes_of_type[out.type] : (out.type - first_blob_type) / 2;
  return !is_small || out.bytes != no_type;
}

/// The bytes of a payload from `at` on as a number with a sign. Shape: there are 1 to 8.
inline std::int64_t signed_number(PageBytes payload, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  if (at + count >= sizeof(value)) {
    // All at once, with what stands before it, which is then shifted out: whatever its size, without a branch.
    std::memcpy(&value, payload.data() + at + count - sizeof(value), sizeof(value));
    if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
    const unsigned other_bits = 8 * static_cast<unsigned>(sizeof(value) - count);
    return static_cast<std::int64_t>(value << other_bits) >> other_bits;
  }
  value = (payload[at] & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8U | payload[at + i];
  return static_cast<std::int64_t>(value);
}

/// The value of a field that begins at `at`. Shape: it is whole.
inline Cell cell_of(Field field, PageBytes payload, std::size_t at) {
  if (field.type >= first_blob_type) {
    const std::string_view text(reinterpret_cast<const char*>(payload.data()) + at, field.bytes);
    return {.type = field.type % 2 == 0 ? Cell::Type::blob : Cell::Type::text, .text = text};
  }
  if (field.type == 0) return {};
  if (field.type == real_type) {
    const auto real = std::bit_cast<double>(signed_number(payload, at, field.bytes));
    if (std::isnan(real)) return {};  // as SQLite reads it
    return {.type = Cell::Type::real, .text = {}, .real = real};
  }
  const std::int64_t value = field.type >= zero_type ? static_cast<std::int64_t>(field.type - zero_type)
                                                     : signed_number(payload, at, field.bytes);
  return {.type = Cell::Type::integer, .integer = value, .text = {}};
}

/// How much of a payload stands on its leaf. Source: "Database File Format", section 1.6.
std::size_t local_bytes(std::uint64_t payload, std::size_t usable) {
  const std::size_t most = usable - 35;
  if (payload <= most) return payload;
  const std::size_t least = (usable - 12) * 32 / 255 - 23;
  const std::size_t wanted = least + (payload - least) % (usable - 4);
  return wanted <= most ? wanted : least;
}

}  // namespace

SqliteScan SqliteScan::of(SqlitePages pages, ScanTree tree, std::span<const ScanColumn> columns,
                          std::size_t row_bytes_max) {
  SqliteScan out(std::move(pages));
  out.tree_ = tree;
  out.row_bytes_max_ = row_bytes_max;
  out.cells_.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].field) out.wanted_.push_back({*columns[i].field, i, columns[i].is_rowid});
  std::sort(out.wanted_.begin(), out.wanted_.end(), [](const Wanted& a, const Wanted& b) { return a.field < b.field; });
  out.seen_.resize(std::size_t{out.pages_.count()} + 1);
  out.to_visit_.push_back({tree.root, 0});
  return out;
}

Result<bool> SqliteScan::next() {
  while (next_cell_ == leaf_cells_) {
    if (to_visit_.empty()) return false;
    const Child child = to_visit_.back();
    to_visit_.pop_back();
    TRACEWEIR_TRY_VOID(enter(child));
  }
  TRACEWEIR_TRY(payload, payload_of(next_cell_));
  ++next_cell_;
  if (!decode(payload)) return damaged("a row that is none");
  return true;
}

Result<void> SqliteScan::finish() {
  for (;;) {
    TRACEWEIR_TRY(more, next());
    if (!more) return {};
  }
}

tl::unexpected<Error> SqliteScan::damaged(std::string_view what) const {
  return fail(ErrorCode::malformed_trace, fmt::format("the database is damaged: page {} has {}", leaf_number_, what));
}

/// Each page has one place in one tree: a second reference to it is damage, and would read it for ever.
Result<void> SqliteScan::mark(PageNumber page) {
  TRACEWEIR_TRY_VOID(tree_.owners->claim(page, tree_.owner));
  if (seen_[page]) return PageOwners::second_reference(page);
  seen_[page] = true;
  return {};
}

Result<void> SqliteScan::enter(Child child) {
  TRACEWEIR_TRY_VOID(mark(child.page));
  leaf_number_ = child.page;
  leaf_cells_ = 0;
  next_cell_ = 0;
  TRACEWEIR_TRY(page, pages_.page(child.page));
  const std::size_t tree_at = child.page == 1 ? sqlite_header::bytes : 0;
  if (page[tree_at + sqlite_tree::kind_at] == sqlite_tree::interior) return push_children(page, child);
  if (page[tree_at + sqlite_tree::kind_at] != sqlite_tree::leaf) return damaged("no part of a table");
  if (leaf_depth_.value_or(child.depth) != child.depth) return damaged("another depth than its neighbours");
  const std::size_t cells = two_bytes(page, tree_at + sqlite_tree::cell_count_at);
  if (tree_at + sqlite_tree::leaf_cells_at + 2 * cells > page.size()) return damaged("more rows than it can hold");
  leaf_depth_ = child.depth;
  leaf_ = page;
  leaf_cells_ = cells;
  leaf_cells_at_ = tree_at + sqlite_tree::leaf_cells_at;
  lowest_row_ = page.size();
  rows_are_apart_ = false;
  return {};
}

Result<void> SqliteScan::push_children(PageBytes page, Child parent) {
  const std::size_t tree_at = parent.page == 1 ? sqlite_header::bytes : 0;
  const std::size_t cells_at = tree_at + sqlite_tree::interior_cells_at;
  const std::size_t cells = two_bytes(page, tree_at + sqlite_tree::cell_count_at);
  if (cells_at + 2 * cells > page.size() || parent.depth == depth_max) return damaged("more children than it can hold");
  to_visit_.push_back({four_bytes(page, tree_at + sqlite_tree::last_child_at), parent.depth + 1});
  for (std::size_t i = cells; i-- > 0;) {
    const std::size_t at = two_bytes(page, cells_at + 2 * i);
    if (at + 4 > page.size()) return damaged("a child outside of it");
    to_visit_.push_back({four_bytes(page, at), parent.depth + 1});
  }
  return {};
}

/// Nothing: it is not on the leaf.
inline std::optional<SqliteScan::Place> SqliteScan::place_of(std::size_t row) const {
  Place out{};
  out.begin = two_bytes(leaf_, leaf_cells_at_ + 2 * row);
  std::uint64_t id = 0;
  std::size_t at = out.begin;
  if (at < leaf_cells_at_ + 2 * leaf_cells_) return std::nullopt;
  if (!take_varint(leaf_, at, out.payload_bytes) || !take_varint(leaf_, at, id)) return std::nullopt;
  out.rowid = static_cast<std::int64_t>(id);
  out.payload_at = at;
  out.local_bytes = local_bytes(out.payload_bytes, leaf_.size());
  out.end = at + out.local_bytes + (out.local_bytes < out.payload_bytes ? next_overflow_bytes : 0);
  if (out.end > leaf_.size()) return std::nullopt;
  return out;
}

bool SqliteScan::rows_are_apart() const {
  std::vector<std::pair<std::size_t, std::size_t>> taken;
  for (std::size_t row = 0; row < leaf_cells_; ++row) {
    const auto place = place_of(row);
    if (!place) return false;
    taken.emplace_back(place->begin, place->end);
  }
  std::sort(taken.begin(), taken.end());
  return std::adjacent_find(taken.begin(), taken.end(), [](auto& a, auto& b) { return b.first < a.second; }) ==
         taken.end();
}

/// The payload of a row of the leaf, and its row id: ids rise through the whole table, so that no row comes twice.
Result<PageBytes> SqliteScan::payload_of(std::size_t row) {
  const auto place = place_of(row);
  if (!place) return damaged("a row outside of it");
  if (rowid_ && place->rowid <= *rowid_) return damaged("rows out of order");
  rowid_ = place->rowid;
  // SQLite fills a page from its end. Only rows that came in another order need to be looked at together.
  if (place->end > lowest_row_ && !rows_are_apart_) {
    if (!rows_are_apart()) return damaged("rows that share bytes");
    rows_are_apart_ = true;
  }
  lowest_row_ = place->begin;
  if (place->payload_bytes > row_bytes_max_)
    return fail(ErrorCode::malformed_trace, fmt::format("SQLite: it has a value, a row or a statement larger than we "
                                                        "read (a row of {} bytes on page {})",
                                                        place->payload_bytes, leaf_number_));
  const PageBytes local = leaf_.subspan(place->payload_at, place->local_bytes);
  if (local.size() == place->payload_bytes) return local;
  assembled_.assign(local.begin(), local.end());
  TRACEWEIR_TRY_VOID(append_overflow(four_bytes(leaf_, place->payload_at + local.size()), place->payload_bytes));
  return PageBytes(assembled_);
}

/// Follows the chain of pages on which the rest of a payload stands.
Result<void> SqliteScan::append_overflow(PageNumber page, std::size_t bytes) {
  overflow_.resize(pages_.usable_bytes());
  while (assembled_.size() < bytes) {
    TRACEWEIR_TRY_VOID(mark(page));
    TRACEWEIR_TRY_VOID(pages_.copy(page, overflow_));
    const std::size_t part = std::min(overflow_.size() - next_overflow_bytes, bytes - assembled_.size());
    const auto begin = overflow_.begin() + next_overflow_bytes;
    assembled_.insert(assembled_.end(), begin, begin + static_cast<std::ptrdiff_t>(part));
    page = four_bytes(overflow_, 0);
  }
  return {};
}

/// Fills the cells. A row with fewer fields than its table has columns is NULL in the rest.
bool SqliteScan::decode(PageBytes payload) {
  std::uint64_t header_bytes = 0;
  std::size_t at = 0;
  if (!take_varint(payload, at, header_bytes) || header_bytes > payload.size() || header_bytes < at) return false;
  const PageBytes header = payload.first(header_bytes);
  std::size_t value_at = header_bytes;
  auto wanted = wanted_.begin();
  bool only_integers = true;
  for (std::size_t number = 0; wanted != wanted_.end() && at < header.size(); ++number) {
    Field field{};
    if (!take_field(header, at, field) || field.bytes > payload.size() - value_at) return false;
    for (; wanted != wanted_.end() && wanted->field == number; ++wanted) {
      Cell& cell = cells_[wanted->cell];
      cell = cell_of(field, payload, value_at);
      if (field.type == 0 && wanted->is_rowid) cell = rowid_cell();
      only_integers &= field.type < first_blob_type && field.type != real_type;
    }
    value_at += field.bytes;
  }
  only_integers_ = only_integers;
  for (; wanted != wanted_.end(); ++wanted) cells_[wanted->cell] = wanted->is_rowid ? rowid_cell() : Cell{};
  return true;
}

}  // namespace traceweir::ingest
