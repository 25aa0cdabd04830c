#include "analyzer/ingest/sqlite_header.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <string>
#include <string_view>

#include "analyzer/ingest/open_file.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/ingest/sqlite_layout.hpp"

namespace traceweir::ingest {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "SQLite format 3\0"sv;
using Header = std::array<unsigned char, sqlite_header::bytes>;

std::uint64_t number_at(const Header& header, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) number = number << 8U | header[at + i];
  return number;
}

Result<Header> read_header(int descriptor, std::uint64_t file_bytes) {
  if (file_bytes < sqlite_header::bytes)
    return fail(ErrorCode::malformed_trace,
                fmt::format("the database has {} bytes; its header alone has {}", file_bytes, sqlite_header::bytes));
  std::array<char, sqlite_header::bytes> bytes{};
  if (::pread(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(ErrorCode::io_failed, "the database cannot be read");
  if (!is_sqlite({bytes.data(), bytes.size()}))
    return fail(ErrorCode::malformed_trace, "byte 0: not the header of a SQLite database");
  return std::bit_cast<Header>(bytes);
}

}  // namespace

bool is_sqlite(std::string_view head) { return head.starts_with(magic); }

Result<void> check_journals(const std::filesystem::path& path) {
  std::error_code unresolved;
  const auto database = std::filesystem::canonical(path, unresolved);  // journals lie beside the file, not its links
  if (unresolved) return {};
  for (const char* tail : {"-wal", "-journal"}) {
    std::error_code absent;
    const auto bytes = std::filesystem::file_size(database.string() + tail, absent);
    if (!absent && bytes > 0)
      return fail(ErrorCode::unsupported_format,
                  fmt::format("export still open or not checkpointed: there is a {} file beside the database. Let the "
                              "writer finish, or run `sqlite3 FILE .tables` once, and analyze it again",
                              tail));
  }
  return {};
}

Result<std::uint64_t> check_sqlite_header(int descriptor) {
  TRACEWEIR_TRY(file_bytes, size_of(descriptor));
  TRACEWEIR_TRY(header, read_header(descriptor, file_bytes));

  const std::uint64_t stored = number_at(header, sqlite_header::page_size_at, 2);
  const std::uint64_t page_bytes = sqlite_header::page_bytes_of(stored);
  if (page_bytes < 512 || !std::has_single_bit(page_bytes))
    return fail(ErrorCode::malformed_trace,
                fmt::format("byte {}: {} is no page size", sqlite_header::page_size_at, stored));
  if (header[sqlite_header::write_version_at] == 2 || header[sqlite_header::read_version_at] == 2)
    return fail(ErrorCode::unsupported_format,
                fmt::format("export still open or not checkpointed: the database is in WAL mode (byte {}), so rows may "
                            "be missing. Run `sqlite3 FILE 'PRAGMA journal_mode=DELETE'` where it was written",
                            sqlite_header::write_version_at));
  if (header[sqlite_header::write_version_at] != 1 || header[sqlite_header::read_version_at] != 1)
    return fail(ErrorCode::malformed_trace,
                fmt::format("byte {}: an unknown file version", sqlite_header::write_version_at));
  // The page count is valid where its stamp agrees with the change counter; older writers leave it alone.
  const bool counted =
      number_at(header, sqlite_header::change_counter_at, 4) == number_at(header, sqlite_header::valid_for_at, 4);
  const std::uint64_t pages = number_at(header, sqlite_header::page_count_at, 4);
  if (counted && pages * page_bytes > file_bytes)
    return fail(ErrorCode::malformed_trace,
                fmt::format("the database is cut off: {} of {} bytes are there", file_bytes, pages * page_bytes));
  return file_bytes;
}

}  // namespace traceweir::ingest
