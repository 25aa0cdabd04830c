#include "server/backup/tar.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "analyzer/core/assert.hpp"
#include "server/spool/file.hpp"

namespace traceweir::backup {
namespace {

constexpr std::uint64_t block = 512;

/// A field of the header: where it begins and how long it is.
struct Field {
  std::size_t at, bytes;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, owner_field{108, 8}, group_field{116, 8}, size_field{124, 12},
    time_field{136, 12}, sum_field{148, 8}, kind_field{156, 1}, magic_field{257, 8};
constexpr std::string_view magic("ustar\00000", 8);
constexpr std::uint64_t octal_max = (std::uint64_t{1} << 33) - 1;

using Header = std::array<char, block>;

void put(Header& header, Field field, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), field.bytes), header.begin() + static_cast<std::ptrdiff_t>(field.at));
}

/// Octal digits and a zero byte; what is too large for them in bytes, after a byte 0x80.
void put_number(Header& header, Field field, std::uint64_t number) {
  if (number > octal_max) {
    header[field.at] = static_cast<char>(0x80);
    for (std::size_t i = field.bytes - 1; i > 0; --i, number >>= 8) header[field.at + i] = static_cast<char>(number);
    return;
  }
  std::string digits(field.bytes - 1, '0');
  for (std::size_t i = digits.size(); i-- > 0; number >>= 3) digits[i] = static_cast<char>('0' + (number & 7));
  put(header, field, digits);
}

/// The sum of all bytes, its own field read as blanks.
std::uint64_t sum_of(const Header& header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block; ++i) {
    const bool own = i >= sum_field.at && i < sum_field.at + sum_field.bytes;
    sum += own ? std::uint64_t{' '} : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

std::string_view text_of(const Header& header, Field field) {
  const std::string_view text(header.data() + field.at, field.bytes);
  return text.substr(0, text.find('\0'));
}

std::optional<std::uint64_t> number_of(const Header& header, Field field) {
  std::uint64_t number = 0;
  if (static_cast<unsigned char>(header[field.at]) == 0x80) {
    for (std::size_t i = field.bytes - 8; i < field.bytes; ++i)
      number = number << 8 | static_cast<unsigned char>(header[field.at + i]);
    return number;
  }
  std::string_view digits = text_of(header, field);
  digits = digits.substr(0, digits.find(' '));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::uint64_t padded(std::uint64_t bytes) { return (bytes + block - 1) / block * block; }

tl::unexpected<Error> no_backup(std::uint64_t offset, std::string_view why) {
  return fail(ErrorCode::bad_body,
              "no backup, or a damaged one: byte " + std::to_string(offset) + ": " + std::string(why));
}

}  // namespace

Result<void> TarWriter::add(std::string_view name, std::string_view bytes) {
  TRACEWEIR_TRY_VOID(begin(name, bytes.size()));
  TRACEWEIR_TRY_VOID(append(std::as_bytes(std::span(bytes))));
  return end();
}

Result<void> TarWriter::begin(std::string_view name, std::uint64_t bytes) {
  TRACEWEIR_ASSERT(missing_ == 0 && name.size() <= name_field.bytes);
  Header header{};
  put(header, name_field, name);
  put_number(header, mode_field, 0600);
  put_number(header, owner_field, 0);
  put_number(header, group_field, 0);
  put_number(header, size_field, bytes);
  put_number(header, time_field, static_cast<std::uint64_t>(time_));
  put(header, kind_field, "0");
  put(header, magic_field, magic);
  put_number(header, {sum_field.at, sum_field.bytes - 1}, sum_of(header));
  header[sum_field.at + sum_field.bytes - 1] = ' ';
  missing_ = header.size();
  TRACEWEIR_TRY_VOID(append(std::as_bytes(std::span(header))));
  missing_ = bytes_ = bytes;
  return {};
}

Result<void> TarWriter::append(std::span<const std::byte> bytes) {
  TRACEWEIR_ASSERT(bytes.size() <= missing_);
  missing_ -= bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(spool::system_error(errno, "writing the backup"));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> TarWriter::zeros(std::uint64_t bytes) {
  static constexpr std::array<std::byte, 64 * block> nothing{};
  for (missing_ = bytes; missing_ > 0;)
    TRACEWEIR_TRY_VOID(append(std::span(nothing).first(std::min<std::uint64_t>(missing_, nothing.size()))));
  return {};
}

Result<void> TarWriter::end() { return zeros(missing_ + padded(bytes_) - bytes_); }

Result<void> TarWriter::finish() { return zeros(2 * block); }

Result<void> read_at(int descriptor, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t read = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return tl::unexpected(spool::system_error(errno, "reading the backup"));
    if (read == 0) return no_backup(offset, "the file ends here");
    bytes = bytes.subspan(static_cast<std::size_t>(read));
    offset += static_cast<std::uint64_t>(read);
  }
  return {};
}

Result<std::vector<TarEntry>> entries_of(int descriptor) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return tl::unexpected(spool::system_error(errno, "reading the backup"));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  std::vector<TarEntry> entries;
  for (std::uint64_t offset = 0;;) {
    Header header;
    TRACEWEIR_TRY_VOID(read_at(descriptor, offset, std::as_writable_bytes(std::span(header))));
    if (std::all_of(header.begin(), header.end(), [](char c) { return c == 0; })) return entries;
    if (std::string_view(header.data() + magic_field.at, magic_field.bytes) != magic || header[kind_field.at] != '0' ||
        number_of(header, sum_field) != sum_of(header) || header[sum_field.at + sum_field.bytes - 1] != ' ')
      return no_backup(offset, "an entry was expected");
    const auto bytes = number_of(header, size_field);
    if (!bytes || *bytes > size || padded(*bytes) > size - offset - block)
      return no_backup(offset, "the entry is longer than the file");
    entries.push_back({std::string(text_of(header, name_field)), *bytes, offset + block});
    offset += block + padded(*bytes);
  }
}

}  // namespace traceweir::backup
