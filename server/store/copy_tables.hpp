// For: carrying every table from one place into the empty tables of a store, all or nothing, and the proof that what
// arrived is what was sent. Not for: reading and writing rows (tables.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/hash/sha256.hpp"
#include "server/store/tables.hpp"

namespace traceweir::store {

/// What a table holds, in a form that can be compared.
struct TableDigest {
  std::string table;
  std::int64_t rows = 0;
  std::string sha256;  ///< of its rows as text (row_text.hpp), in the order of the key
  friend bool operator==(const TableDigest&, const TableDigest&) = default;
};

/// Takes the digest of rows that come one after the other.
class TableDigester {
 public:
  /// The row as text, valid until the next call.
  const std::string& add(const Row& row);
  TableDigest finish(const std::string& table);

 private:
  hash::Sha256 hash_;
  std::string line_;
  std::int64_t rows_ = 0;
};

/// Called after each batch with the table's name and its rows so far.
using CopyProgress = std::function<void(const std::string& table, std::int64_t rows)>;

/// Carries every row, sets the numbers that new rows go on from, reads everything back and compares, and commits.
/// What a source promises of its own rows (a backup's hashes) it proves in read().
/// Errors: bad_body (the source's tables are others than the target's), hash_mismatch (what arrived is not what was
///         sent), and those of source and target. Nothing was written then.
/// Cost: memory for about a MiB of rows and one more row; each row is read, written and read again.
Result<std::vector<TableDigest>> copy_tables(TableSource& source, TableTarget& target, const CopyProgress& on_progress);

}  // namespace traceweir::store
