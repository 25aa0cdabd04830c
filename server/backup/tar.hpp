// For: a tar file written from front to end, and the places of its entries read again, so that any tar can open a
// backup. Not for: what the entries are (archive.hpp), links, folders, owners.
// Source: POSIX.1-2017, pax, "ustar Interchange Format"; sizes from 8 GiB on as GNU tar writes them (base-256).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::backup {

/// Shape: add() whole entries, or begin(), append() until its bytes are there, end(); at last finish().
class TarWriter {
 public:
  /// `descriptor` stays the caller's. Units: `time`, of all entries: seconds since 1970.
  TarWriter(int descriptor, std::int64_t time) : descriptor_(descriptor), time_(time) {}

  /// Errors: disk_full, io_failed.
  Result<void> add(std::string_view name, std::string_view bytes);
  /// `name` has at most 100 bytes. Errors: disk_full, io_failed.
  Result<void> begin(std::string_view name, std::uint64_t bytes);
  /// Errors: disk_full, io_failed.
  Result<void> append(std::span<const std::byte> bytes);
  /// Fills up with zeros what append() did not give. Errors: disk_full, io_failed.
  Result<void> end();
  /// The end of the archive. Errors: disk_full, io_failed.
  Result<void> finish();

 private:
  Result<void> zeros(std::uint64_t bytes);

  int descriptor_;
  std::int64_t time_;
  std::uint64_t missing_ = 0, bytes_ = 0;
};

struct TarEntry {
  std::string name;
  std::uint64_t bytes = 0, offset = 0;  ///< of its contents
};

/// Every entry of a file that TarWriter wrote, in its order. Cost: one small read per entry.
/// Errors: bad_body (no such file, cut off, or with entries of another kind), io_failed.
Result<std::vector<TarEntry>> entries_of(int descriptor);

/// Reads into all of `bytes`. Errors: bad_body (the file ends before), io_failed.
Result<void> read_at(int descriptor, std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace traceweir::backup
