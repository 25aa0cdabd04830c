#include "server/store/copy_tables.hpp"

#include <algorithm>

#include "server/store/row_text.hpp"

namespace traceweir::store {
namespace {

constexpr std::size_t batch_bytes = std::size_t{1} << 20;
constexpr std::size_t batch_rows = 1000;

const TableShape* find_table(const std::vector<TableShape>& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const auto& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

/// The first column that one has and the other has not, or has as another kind.
std::string difference(const TableShape& a, const TableShape& b) {
  for (const TableColumn& column : a.columns)
    if (std::find(b.columns.begin(), b.columns.end(), column) == b.columns.end()) return column.name;
  return "";
}

Result<void> check_same(const std::vector<TableShape>& source, const std::vector<TableShape>& target) {
  for (const auto& [these, those] : {std::pair(&source, &target), std::pair(&target, &source)})
    for (const TableShape& table : *these) {
      const TableShape* const other = find_table(*those, table.name);
      const std::string place = "the table " + table.name;
      if (other == nullptr) return fail(ErrorCode::bad_body, place + " is in one of the two stores only");
      if (const std::string column = difference(table, *other); !column.empty())
        return fail(ErrorCode::bad_body, place + ": the column " + column + " is not the same in both stores");
    }
  return {};
}

/// One table on its way.
class Carrier {
 public:
  Carrier(TableTarget& target, const TableShape& table, const CopyProgress& on_progress)
      : target_(target), table_(table), on_progress_(on_progress) {}

  Result<void> add(const Row& row) {
    bytes_ += digester_.add(row).size();
    batch_.push_back(row);
    return bytes_ < batch_bytes && batch_.size() < batch_rows ? Result<void>{} : write();
  }

  Result<TableDigest> finish() {
    TRACEWEIR_TRY_VOID(write());
    TRACEWEIR_TRY_VOID(target_.count_from(table_, table_.last_number.value_or(0)));
    return digester_.finish(table_.name);
  }

 private:
  Result<void> write() {
    if (!batch_.empty()) TRACEWEIR_TRY_VOID(target_.write(table_, batch_));
    rows_ += static_cast<std::int64_t>(batch_.size());
    on_progress_(table_.name, rows_);
    batch_.clear();
    bytes_ = 0;
    return {};
  }

  TableTarget& target_;
  const TableShape& table_;
  const CopyProgress& on_progress_;
  TableDigester digester_;
  std::vector<Row> batch_;
  std::size_t bytes_ = 0;
  std::int64_t rows_ = 0;
};

Result<TableDigest> read_back(TableTarget& target, const TableShape& table) {
  TableDigester digester;
  const auto add = [&](const Row& row) -> Result<void> {
    digester.add(row);
    return {};
  };
  TRACEWEIR_TRY_VOID(target.read(table, add));
  return digester.finish(table.name);
}

Result<TableDigest> copy_table(TableSource& source, TableTarget& target, const TableShape& table,
                               const CopyProgress& on_progress) {
  Carrier carrier(target, table, on_progress);
  TRACEWEIR_TRY_VOID(source.read(table, [&](const Row& row) { return carrier.add(row); }));
  TRACEWEIR_TRY(sent, carrier.finish());
  TRACEWEIR_TRY(arrived, read_back(target, table));
  if (arrived != sent)
    return fail(ErrorCode::hash_mismatch, "the table " + table.name + ": " + std::to_string(sent.rows) +
                                              " rows were sent, and the " + std::to_string(arrived.rows) +
                                              " that arrived are not the same");
  return sent;
}

}  // namespace

const std::string& TableDigester::add(const Row& row) {
  line_.clear();
  append_row(line_, row);
  hash_.update(std::as_bytes(std::span(line_)));
  ++rows_;
  return line_;
}

TableDigest TableDigester::finish(const std::string& table) { return {table, rows_, hash_.hex()}; }

Result<std::vector<TableDigest>> copy_tables(TableSource& source, TableTarget& target,
                                             const CopyProgress& on_progress) {
  TRACEWEIR_TRY_VOID(check_same(source.tables(), target.tables()));
  TRACEWEIR_TRY_VOID(target.begin());
  std::vector<TableDigest> digests;
  // In the target's order: what its own references need.
  for (const TableShape& table : target.tables()) {
    TRACEWEIR_TRY(digest, copy_table(source, target, *find_table(source.tables(), table.name), on_progress));
    digests.push_back(std::move(digest));
  }
  TRACEWEIR_TRY_VOID(target.commit());
  return digests;
}

}  // namespace traceweir::store
