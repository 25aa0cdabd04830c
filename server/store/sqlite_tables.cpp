#include "server/store/sqlite_tables.hpp"

#include <algorithm>
#include <optional>

#include "server/store/sqlite_database.hpp"
#include "server/store/sqlite_migrate.hpp"

namespace traceweir::store {
namespace {

namespace fs = std::filesystem;

Error unusable(const fs::path& file, std::string_view why) {
  return {ErrorCode::store_unavailable, "store " + file.string() + ": " + std::string(why)};
}

/// Runs `work`; what SQLite throws comes out as an Error.
template <typename Work>
std::invoke_result_t<Work> guarded(Connection& connection, const Work& work) {
  try {
    return work();
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(error_of(connection, exception));
  }
}

// From here on: the catalogue.

std::optional<ColumnKind> kind_of(std::string_view type) {
  struct KindRow {
    std::string_view type;
    ColumnKind kind;
  };
  constexpr KindRow kinds[] = {
      {"INTEGER", ColumnKind::integer}, {"REAL", ColumnKind::real}, {"TEXT", ColumnKind::text}};
  for (const KindRow& row : kinds)
    if (row.type == type) return row.kind;
  return std::nullopt;
}

/// Errors: internal (a column of a type that is not carried).
Result<TableShape> shape_of(Connection& connection, const std::string& name) {
  TableShape table{name, {}, {}, {}};
  std::map<std::int64_t, std::string> key;
  Query columns = connection.query("SELECT name, upper(type), pk FROM pragma_table_info(?1) ORDER BY name", name);
  while (columns.next()) {
    std::string column, type;
    std::int64_t key_position = 0;
    columns.read(column, type, key_position);
    const auto kind = kind_of(type);
    if (!kind) return fail(ErrorCode::internal, "store: " + name + "." + column + " has the type " + type);
    table.columns.push_back({column, *kind});
    if (key_position > 0) key[key_position] = column;
  }
  for (auto& [position, column] : key) table.key.push_back(column);
  Query numbers = connection.query("SELECT seq FROM sqlite_sequence WHERE name = ?1", name);
  if (numbers.next()) numbers.read(table.last_number);
  return table;
}

std::vector<std::string> texts(Connection& connection, std::string_view sql, std::string_view parameter = {}) {
  std::vector<std::string> found;
  Query query = parameter.empty() ? connection.query(sql) : connection.query(sql, parameter);
  while (query.next()) query.read(found.emplace_back());
  return found;
}

Result<std::vector<TableShape>> catalogue(Connection& connection) {
  std::vector<TableShape> tables;
  std::map<std::string, std::set<std::string>> references;
  for (const std::string& name :
       texts(connection,
             "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")) {
    if (!is_copied(name)) continue;
    TRACEWEIR_TRY(table, shape_of(connection, name));
    tables.push_back(std::move(table));
    for (std::string& other : texts(connection, R"(SELECT "table" FROM pragma_foreign_key_list(?1))", name))
      references[name].insert(std::move(other));
  }
  return in_order_of_reference(std::move(tables), references);
}

std::int64_t version_of(Connection& connection) {
  std::int64_t version = 0;
  Query query = connection.query("SELECT coalesce(max(version), 0) FROM schema_version");
  if (query.next()) query.read(version);
  return version;
}

// From here on: rows.

Cell cell_of(SQLite::Column column) {
  if (column.isNull()) return std::monostate{};
  if (column.isInteger()) return std::int64_t{column.getInt64()};
  if (column.isFloat()) return column.getDouble();
  return column.getString();
}

Result<void> read_rows(Connection& connection, const TableShape& table, const RowSink& sink) {
  const auto name = [](const TableColumn& column) { return sql_name(column.name); };
  SQLite::Statement statement(connection.database(), select_rows(table, name, name));
  Row row(table.columns.size());
  while (statement.executeStep()) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = cell_of(statement.getColumn(static_cast<int>(i)));
    TRACEWEIR_TRY_VOID(sink(row));
  }
  return {};
}

struct Binder {
  SQLite::Statement& statement;
  int place;
  void operator()(std::monostate) const { statement.bind(place); }
  template <typename T>
  void operator()(const T& value) const {
    statement.bind(place, value);
  }
};

void write_rows(Connection& connection, const TableShape& table, std::span<const Row> rows) {
  std::string columns, values;
  for (const TableColumn& column : table.columns) {
    columns += (columns.empty() ? "" : ", ") + sql_name(column.name);
    values += values.empty() ? "?" : ", ?";
  }
  SQLite::Statement statement(connection.database(),
                              "INSERT INTO " + sql_name(table.name) + " (" + columns + ") VALUES (" + values + ")");
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) std::visit(Binder{statement, static_cast<int>(i) + 1}, row[i]);
    statement.exec();
    statement.reset();
  }
}

Result<void> check_empty(Connection& connection, const std::vector<TableShape>& tables) {
  for (const TableShape& table : tables)
    if (SQLite::Statement(connection.database(), "SELECT 1 FROM " + sql_name(table.name) + " LIMIT 1").executeStep())
      return fail(ErrorCode::conflict, "the store is not empty: the table " + table.name + " has rows");
  return {};
}

// From here on: a snapshot.

class SqliteSnapshot final : public StoreSnapshot {
 public:
  explicit SqliteSnapshot(const fs::path& file) : connection_(file) {
    connection_.database().exec("PRAGMA trusted_schema = OFF");
    connection_.database().exec("PRAGMA query_only = ON");
    transaction_.emplace(connection_.database());
  }

  Result<void> prepare() {
    return guarded(connection_, [this]() -> Result<void> {
      TRACEWEIR_TRY_VOID(check_owner(connection_));  // the first look: from here on the state does not change
      if (!connection_.database().tableExists("schema_version"))
        return fail(ErrorCode::store_unavailable, "it is empty");
      version_ = version_of(connection_);
      TRACEWEIR_TRY(tables, catalogue(connection_));
      tables_ = std::move(tables);
      return {};
    });
  }

  [[nodiscard]] std::int64_t version() const override { return version_; }
  [[nodiscard]] const std::vector<TableShape>& tables() const override { return tables_; }
  Result<void> read(const TableShape& table, const RowSink& sink) override {
    return guarded(connection_, [&] { return read_rows(connection_, table, sink); });
  }
  Result<std::vector<std::string>> blobs(Blobs which) override {
    return guarded(connection_,
                   [&]() -> Result<std::vector<std::string>> { return texts(connection_, select_blobs(which)); });
  }

 private:
  Connection connection_;
  std::optional<SQLite::Transaction> transaction_;
  std::int64_t version_ = 0;
  std::vector<TableShape> tables_;
};

// From here on: a target.

class SqliteTarget final : public TableTarget {
 public:
  SqliteTarget(FileDescriptor lock, const fs::path& file) : lock_(std::move(lock)), connection_(file) {}

  Result<void> prepare(std::int64_t version) {
    return guarded(connection_, [&]() -> Result<void> {
      TRACEWEIR_TRY_VOID(check_owner(connection_));
      set_up(connection_.database());
      const auto migrations = sqlite_migrations();
      TRACEWEIR_TRY(known, known_version(version, migrations.size()));
      const bool is_new = !connection_.database().tableExists("schema_version");
      if (!is_new) TRACEWEIR_TRY_VOID(check_not_newer(version_of(connection_), version));
      TRACEWEIR_TRY_VOID(migrate_sqlite(connection_, migrations.first(known)));
      TRACEWEIR_TRY(tables, catalogue(connection_));
      tables_ = std::move(tables);
      return check_empty(connection_, tables_);
    });
  }

  [[nodiscard]] const std::vector<TableShape>& tables() const override { return tables_; }

  Result<void> begin() override {
    return guarded(connection_, [this] {
      transaction_.emplace(connection_.database(), SQLite::TransactionBehavior::EXCLUSIVE);
      return check_empty(connection_, tables_);
    });
  }

  Result<void> write(const TableShape& table, std::span<const Row> rows) override {
    return guarded(connection_, [&]() -> Result<void> {
      write_rows(connection_, table, rows);
      return {};
    });
  }

  Result<void> count_from(const TableShape& table, std::int64_t number) override {
    return guarded(connection_, [&]() -> Result<void> {
      if (number == 0 || !counts(table.name)) return {};  // the others go on from their highest row
      const auto changed =
          connection_.execute("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", table.name, number);
      if (changed == 0)
        connection_.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)", table.name, number);
      return {};
    });
  }

  Result<void> read(const TableShape& table, const RowSink& sink) override {
    return guarded(connection_, [&] { return read_rows(connection_, table, sink); });
  }

  Result<void> commit() override {
    return guarded(connection_, [this]() -> Result<void> {
      transaction_->commit();
      transaction_.reset();
      return migrate_sqlite(connection_, sqlite_migrations());
    });
  }

 private:
  bool counts(std::string_view table) {
    return connection_
        .query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND sql LIKE '%AUTOINCREMENT%'", table)
        .next();
  }

  FileDescriptor lock_;
  Connection connection_;
  std::optional<SQLite::Transaction> transaction_;
  std::vector<TableShape> tables_;
};

}  // namespace

Result<std::unique_ptr<StoreSnapshot>> open_sqlite_snapshot(std::string_view path) {
  const fs::path file(path);
  try {
    auto snapshot = std::make_unique<SqliteSnapshot>(file);
    if (const auto prepared = snapshot->prepare(); !prepared)
      return tl::unexpected(unusable(file, prepared.error().message));
    return snapshot;
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(unusable(file, exception.what()));
  }
}

Result<std::unique_ptr<TableTarget>> open_sqlite_target(std::string_view path, std::int64_t version) {
  const fs::path file(path);
  TRACEWEIR_TRY(lock, lock_service(file));
  TRACEWEIR_TRY_VOID(make_private(file));
  try {
    auto target = std::make_unique<SqliteTarget>(std::move(lock), file);
    TRACEWEIR_TRY_VOID(target->prepare(version));
    return target;
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(unusable(file, exception.what()));
  }
}

}  // namespace traceweir::store
