// For: everything that a store holds, as tables of rows, so that it can be carried into another store or into a file.
// The tables are those that the database itself lists: one that a migration adds is carried without a word here.
// Not for: what the rows mean (store.hpp), the order of the work (copy_tables.hpp), files (server/backup).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::store {

/// What both databases know of a value. A boolean is the integer 0 or 1.
enum class ColumnKind { integer, real, text };
std::string_view word(ColumnKind kind);
std::optional<ColumnKind> column_kind_of(std::string_view word);

struct TableColumn {
  std::string name;
  ColumnKind kind;
  friend bool operator==(const TableColumn&, const TableColumn&) = default;
};

/// Shape: columns in the order of their names, so that the same row is the same text whichever database it is in.
struct TableShape {
  std::string name;
  std::vector<TableColumn> columns;
  std::vector<std::string> key;             ///< the primary key's columns: the order of the rows
  std::optional<std::int64_t> last_number;  ///< the highest number that the database ever gave to a row
};

using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
using Row = std::vector<Cell>;
using RowSink = std::function<Result<void>(const Row&)>;

/// Tables that are not carried, with the reason. Of every other one both databases have the same columns (a test).
struct UncopiedTable {
  std::string_view name, why;
};
inline constexpr UncopiedTable uncopied_tables[] = {{"schema_version", "the migrations of the target write it"}};
bool is_copied(std::string_view table);

/// One unchanging state of all tables. Thread: one at a time.
class TableSource {
 public:
  virtual ~TableSource() = default;
  /// The number of migrations that made the tables.
  [[nodiscard]] virtual std::int64_t version() const = 0;
  /// Shape: a table comes after those that it refers to.
  [[nodiscard]] virtual const std::vector<TableShape>& tables() const = 0;
  /// Gives every row of the table to `sink`, in the order of `table.key`.
  /// Errors: those of `sink`; store_unavailable. Cost: memory for a few rows, whatever the table's size.
  virtual Result<void> read(const TableShape& table, const RowSink& sink) = 0;
};

/// Which kept traces are asked for: those of every upload, or only those without which a run cannot get its result.
enum class Blobs { all, of_unfinished_runs };
/// The question for them, in words that both databases understand.
std::string_view select_blobs(Blobs which);

/// A store's tables at one moment, read beside a running service, which goes on writing.
class StoreSnapshot : public TableSource {
 public:
  /// SHA-256 of the traces that the rows refer to, each once. Errors: store_unavailable.
  virtual Result<std::vector<std::string>> blobs(Blobs which) = 0;
};

/// Where rows are carried to: the empty tables of a store. Nothing of it is seen by others before commit(), and nothing
/// is left when it goes without one. Thread: one at a time.
class TableTarget {
 public:
  virtual ~TableTarget() = default;
  [[nodiscard]] virtual const std::vector<TableShape>& tables() const = 0;
  /// Keeps everybody else out of the tables, until the end. Errors: conflict (a table has rows), store_unavailable.
  virtual Result<void> begin() = 0;
  /// Errors: store_unavailable, disk_full, bad_query (a text that this database cannot hold), internal (the schema
  ///         refuses a row).
  virtual Result<void> write(const TableShape& table, std::span<const Row> rows) = 0;
  /// New rows get numbers above `number` and above those of the rows that are there. Errors: as write().
  virtual Result<void> count_from(const TableShape& table, std::int64_t number) = 0;
  /// What was written, read back; as TableSource::read(). Errors: those of `sink`; store_unavailable.
  virtual Result<void> read(const TableShape& table, const RowSink& sink) = 0;
  /// Makes it last, then applies the migrations that the tables lack. Errors: as write().
  virtual Result<void> commit() = 0;
};

/// The store at `url` as it is now. Its schema stays as it is, also where this program knows a later one.
/// Errors: bad_config, store_unavailable (cannot be opened, is no store).
Result<std::unique_ptr<StoreSnapshot>> open_snapshot(std::string_view url);

/// The empty store at `url`, made where it is missing, with the tables of `version`.
/// Errors: bad_config, store_unavailable (cannot be opened, a service is using it, `version` is none that this program
///         knows, the store has a later one), conflict (it is not empty).
Result<std::unique_ptr<TableTarget>> open_target(std::string_view url, std::int64_t version);

/// `tables` in an order in which each comes after those that it refers to; `references` by name.
/// Errors: internal (they refer to each other in a circle).
Result<std::vector<TableShape>> in_order_of_reference(std::vector<TableShape> tables,
                                                      const std::map<std::string, std::set<std::string>>& references);

/// "name" as SQL has it, whatever is in it.
std::string sql_name(std::string_view name);

/// SELECT of the columns, in the order of the key; `column(name)` and `order(name)` say how each is spelt.
std::string select_rows(const TableShape& table, const std::function<std::string(const TableColumn&)>& column,
                        const std::function<std::string(const TableColumn&)>& order);

}  // namespace traceweir::store
