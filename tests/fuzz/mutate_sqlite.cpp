// The shape of a database: https://www.sqlite.org/fileformat2.html
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tests/fuzz/mutate.hpp"

namespace traceweir::fuzz {
namespace {

constexpr std::size_t header_bytes = 100;
constexpr unsigned char table_leaf = 13;

std::size_t number_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i)
    number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::size_t page_bytes_of(const std::string& bytes) {
  const std::size_t stored = number_at(bytes, 16, 2);
  return stored == 1 ? 65536 : std::max<std::size_t>(stored, 512);
}

/// A number as SQLite stores it in up to nine bytes; moves `at` behind it.
std::uint64_t varint_at(const std::string& bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (int i = 0; i < 9 && at < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    if (i == 8) return number << 8U | byte;
    number = number << 7U | (byte & 0x7FU);
    if ((byte & 0x80U) == 0) break;
  }
  return number;
}

std::size_t bytes_of_type(std::uint64_t type) {
  constexpr std::array<std::size_t, 12> fixed = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < fixed.size() ? fixed[type] : (type - 12) / 2;
}

/// One value of a row, and where its type stands.
struct Stored {
  std::size_t type_at, at, bytes;
  std::uint64_t type;
};

std::vector<Stored> values_of_row(const std::string& bytes, std::size_t cell) {
  std::size_t at = cell;
  varint_at(bytes, at);  // size of the row
  varint_at(bytes, at);  // its id
  const std::size_t row = at;
  const std::size_t head_bytes = varint_at(bytes, at);
  std::size_t value_at = row + head_bytes;
  std::vector<Stored> values;
  while (at < row + head_bytes && at < bytes.size() && values.size() < 64) {
    const std::size_t type_at = at;
    const std::uint64_t type = varint_at(bytes, at);
    const std::size_t size = bytes_of_type(type);
    if (value_at + size > bytes.size() || size > bytes.size()) break;
    values.push_back({type_at, value_at, size, type});
    value_at += size;
  }
  return values;
}

/// A row of some leaf, by chance: the place of its cell.
std::optional<std::size_t> some_cell(const std::string& bytes, Chance& chance) {
  const std::size_t page_bytes = page_bytes_of(bytes);
  const std::size_t pages = bytes.size() / page_bytes;
  for (int tries = 0; tries < 16 && pages > 0; ++tries) {
    const std::size_t page = chance.below(pages);
    const std::size_t begin = page * page_bytes;
    const std::size_t tree = page == 0 ? header_bytes : begin;
    if (static_cast<unsigned char>(bytes[tree]) != table_leaf) continue;
    const std::size_t cells = number_at(bytes, tree + 3, 2);
    if (cells == 0) continue;
    const std::size_t cell = begin + number_at(bytes, tree + 8 + 2 * chance.below(cells), 2);
    if (cell < bytes.size()) return cell;
  }
  return std::nullopt;
}

void write_number(std::string& bytes, const Stored& value, std::uint64_t number) {
  for (std::size_t i = 0; i < value.bytes && i < 8; ++i)
    bytes[value.at + i] = static_cast<char>(number >> (8 * (value.bytes - 1 - i)) & 0xFFU);
}

/// A value becomes another one of its size: the row stays a row.
void change_value(std::string& bytes, const Stored& value, Chance& chance) {
  constexpr std::array<std::uint64_t, 10> numbers = {0,
                                                     1,
                                                     0xFF,
                                                     0x80,
                                                     0x7FFFFFFF,
                                                     0x80000000,
                                                     0x7FFFFFFFFFFFFFFF,
                                                     0x8000000000000000,
                                                     0xFFFFFFFFFFFFFFFF,
                                                     0x7FF0000000000000};
  if (value.bytes == 0) return;
  if (value.type <= 7)
    return write_number(bytes, value, chance.below(3) == 0 ? chance.bits() : numbers[chance.below(10)]);
  const std::size_t size = std::min<std::size_t>(value.bytes, 1 + chance.below(8));
  for (std::size_t i = 0; i < size; ++i)
    bytes[value.at + chance.below(value.bytes)] = static_cast<char>(chance.bits() & 0x7FU);
}

void change_row(std::string& bytes, Chance& chance) {
  const auto cell = some_cell(bytes, chance);
  if (!cell) return change_bytes(bytes, chance);
  const std::vector<Stored> values = values_of_row(bytes, *cell);
  if (values.empty()) return change_bytes(bytes, chance);
  const Stored value = values[chance.below(values.size())];
  if (chance.below(4) > 0) return change_value(bytes, value, chance);
  // Another type of the same size: a real for a number, a blob for a text, NULL for a 0 or 1.
  const std::uint64_t type = value.type == 6    ? 7
                             : value.type == 7  ? 6
                             : value.type >= 12 ? value.type ^ 1U
                                                : chance.below(10);
  bytes[value.type_at] = static_cast<char>(type < 128 ? type : value.type & 0x7FU);
}

void swap_pages(std::string& bytes, Chance& chance) {
  const std::size_t size = page_bytes_of(bytes);
  const std::size_t pages = bytes.size() / size;
  if (pages < 3) return change_bytes(bytes, chance);
  const std::size_t a = (1 + chance.below(pages - 1)) * size, b = (1 + chance.below(pages - 1)) * size;
  const auto begin = bytes.begin();
  if (chance.below(2) == 0)
    std::swap_ranges(begin + static_cast<std::ptrdiff_t>(a), begin + static_cast<std::ptrdiff_t>(a + size),
                     begin + static_cast<std::ptrdiff_t>(b));
  else
    bytes.replace(a, size, bytes.substr(b, size));
}

/// One of the header's fields.
void change_header(std::string& bytes, Chance& chance) {
  constexpr std::array<std::size_t, 16> fields = {16, 18, 19, 20, 21, 22, 23, 24, 28, 32, 36, 40, 44, 52, 56, 92};
  const std::size_t at = fields[chance.below(fields.size())] + chance.below(4);
  if (at < bytes.size()) bytes[at] = static_cast<char>(chance.bits() & 0xFFU);
}

/// A pointer, count or offset in the head of a page.
void change_page_head(std::string& bytes, Chance& chance) {
  const std::size_t size = page_bytes_of(bytes);
  const std::size_t pages = std::max<std::size_t>(bytes.size() / size, 1);
  const std::size_t page = chance.below(pages);
  const std::size_t at = (page == 0 ? header_bytes : page * size) + chance.below(24);
  if (at < bytes.size()) bytes[at] = static_cast<char>(chance.bits() & 0xFFU);
}

/// A piece of the schema's text: names of tables and columns, types.
void change_schema(std::string& bytes, Chance& chance) {
  constexpr std::array<std::string_view, 8> words = {"INTEGER",      "TEXT", "start",     "end",
                                                     "CREATE TABLE", "VIEW", "globalPid", "AS ("};
  const std::size_t at = bytes.find("CREATE ", chance.below(bytes.size()));
  if (at == std::string::npos) return change_bytes(bytes, chance);
  const std::string_view word = words[chance.below(words.size())];
  const std::size_t to = at + chance.below(std::min<std::size_t>(400, bytes.size() - at));
  bytes.replace(to, std::min(word.size(), bytes.size() - to), word.substr(0, std::min(word.size(), bytes.size() - to)));
}

}  // namespace

void change_sqlite(std::string& bytes, Chance& chance) {
  constexpr void (*changes[])(std::string&, Chance&) = {change_row,       change_row,    change_row,
                                                        change_row,       swap_pages,    change_header,
                                                        change_page_head, change_schema, change_bytes};
  if (bytes.size() < header_bytes + 8) return change_bytes(bytes, chance);
  changes[chance.below(std::size(changes))](bytes, chance);
}

}  // namespace traceweir::fuzz
