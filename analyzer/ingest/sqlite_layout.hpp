// For: where a SQLite file has what our readers look at: in its header, and in the pages of its trees.
// Not for: reading it. Source: sqlite.org, "Database File Format", sections 1.3 and 1.6.
#pragma once

#include <cstddef>

namespace traceweir::ingest::sqlite_header {

inline constexpr std::size_t bytes = 100;

// Offsets.
inline constexpr std::size_t page_size_at = 16;
inline constexpr std::size_t write_version_at = 18;
inline constexpr std::size_t read_version_at = 19;
inline constexpr std::size_t reserved_at = 20;
inline constexpr std::size_t change_counter_at = 24;
inline constexpr std::size_t page_count_at = 28;
inline constexpr std::size_t first_free_at = 32;
inline constexpr std::size_t free_count_at = 36;
inline constexpr std::size_t largest_root_at = 52;  // 0: no pages are maps
inline constexpr std::size_t encoding_at = 56;
inline constexpr std::size_t valid_for_at = 92;

/// The size of the pages, of which 65536 is stored as 1.
/// Units: bytes.
constexpr std::size_t page_bytes_of(std::size_t stored) { return stored == 1 ? 65536 : stored; }

}  // namespace traceweir::ingest::sqlite_header

namespace traceweir::ingest::sqlite_tree {

inline constexpr unsigned char interior = 5;
inline constexpr unsigned char leaf = 13;

// Offsets in a page; on page 1 the header of the file is before them.
inline constexpr std::size_t kind_at = 0;
inline constexpr std::size_t cell_count_at = 3;
inline constexpr std::size_t last_child_at = 8;
inline constexpr std::size_t leaf_cells_at = 8;
inline constexpr std::size_t interior_cells_at = 12;

}  // namespace traceweir::ingest::sqlite_tree
