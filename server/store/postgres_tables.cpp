#include "server/store/postgres_tables.hpp"

#include <algorithm>

#include "server/store/postgres_database.hpp"
#include "server/store/postgres_migrate.hpp"
#include "server/store/postgres_settings.hpp"
#include "server/store/postgres_url.hpp"

namespace traceweir::store {
namespace {

/// Rows that are fetched at a time: as many as make about so many bytes, at most and at first so many.
constexpr std::int64_t fetch_bytes = std::int64_t{4} << 20, fetch_rows_max = 2000, fetch_rows_first = 16;

/// Runs `work`; a PostgresFailure comes out as an Error.
template <typename Work>
std::invoke_result_t<Work> guarded(const Work& work) {
  try {
    return work();
  } catch (const PostgresFailure& failure) {
    return tl::unexpected(error_of(failure));
  }
}

// From here on: the catalogue.

struct TypeRow {
  std::string_view type;
  ColumnKind kind;
};
constexpr TypeRow types[] = {{"bigint", ColumnKind::integer},
                             {"integer", ColumnKind::integer},
                             {"boolean", ColumnKind::integer},
                             {"text", ColumnKind::text},
                             {"double precision", ColumnKind::real}};

/// What the database says of a table, beside its shape.
struct StoredTable {
  TableShape shape;
  std::map<std::string, std::string> types;  ///< of the columns, as SQL spells them
  std::string numbered, sequence;            ///< the column that gets numbers, and their source; empty: none
  std::string parted_by;                     ///< the column that says in which part a row lies; empty: it has no parts
};

/// Errors: internal (a column of a type that is not carried).
Result<void> add_column(StoredTable& table, const std::string& column, const std::string& type) {
  const auto* const known =
      std::find_if(std::begin(types), std::end(types), [&](const TypeRow& row) { return row.type == type; });
  if (known == std::end(types))
    return fail(ErrorCode::internal, "store: " + table.shape.name + "." + column + " has the type " + type);
  table.shape.columns.push_back({column, known->kind});
  table.types[column] = type;
  return {};
}

std::int64_t last_number(PostgresConnection& connection, const std::string& sequence) {
  std::int64_t number = 0;
  Rows rows = connection.query("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM " + sequence);
  if (rows.next()) rows.read(number);
  return number;
}

Result<StoredTable> stored_table(PostgresConnection& connection, const std::string& name) {
  StoredTable table{{name, {}, {}, {}}, {}, {}, {}, {}};
  Rows columns = connection.query(
      "SELECT attname::text, pg_catalog.format_type(atttypid, atttypmod), "
      "coalesce(pg_catalog.pg_get_serial_sequence(attrelid::regclass::text, attname::text), '') "
      "FROM pg_catalog.pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped "
      "AND attgenerated = '' ORDER BY attname::text COLLATE \"C\"",
      sql_name(name));
  while (columns.next()) {
    std::string column, type, sequence;
    columns.read(column, type, sequence);
    TRACEWEIR_TRY_VOID(add_column(table, column, type));
    if (sequence.empty()) continue;
    table.numbered = column;
    table.sequence = sequence;
    table.shape.last_number = last_number(connection, sequence);
  }
  Rows key = connection.query(
      "SELECT a.attname::text FROM pg_catalog.pg_index i "
      "CROSS JOIN pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k (number, place) "
      "JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number "
      "WHERE i.indrelid = $1::regclass AND i.indisprimary AND k.place <= i.indnkeyatts ORDER BY k.place",
      sql_name(name));
  while (key.next()) key.read(table.shape.key.emplace_back());
  Rows parts = connection.query(
      "SELECT a.attname::text FROM pg_catalog.pg_partitioned_table p JOIN pg_catalog.pg_attribute a "
      "ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0] WHERE p.partrelid = $1::regclass",
      sql_name(name));
  if (parts.next()) parts.read(table.parted_by);
  return table;
}

std::vector<std::string> texts(Rows rows) {
  std::vector<std::string> found;
  while (rows.next()) rows.read(found.emplace_back());
  return found;
}

/// A partition's rows are its table's.
constexpr std::string_view select_tables =
    "SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND NOT EXISTS (SELECT "
    "FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')";

constexpr std::string_view select_references =
    "SELECT DISTINCT c.relname::text FROM pg_catalog.pg_constraint r JOIN pg_catalog.pg_class c ON c.oid = r.confrelid "
    "WHERE r.contype = 'f' AND r.conrelid = $1::regclass";

/// The tables in order of reference, and by name what else is known of them.
struct Catalogue {
  std::vector<TableShape> tables;
  std::map<std::string, StoredTable> stored;
};

Result<Catalogue> catalogue(PostgresConnection& connection) {
  Catalogue found;
  std::map<std::string, std::set<std::string>> references;
  for (const std::string& name : texts(connection.query(select_tables))) {
    if (!is_copied(name)) continue;
    TRACEWEIR_TRY(table, stored_table(connection, name));
    found.tables.push_back(table.shape);
    found.stored.emplace(name, std::move(table));
    for (std::string& other : texts(connection.query(select_references, sql_name(name))))
      references[name].insert(std::move(other));
  }
  TRACEWEIR_TRY(ordered, in_order_of_reference(std::move(found.tables), references));
  found.tables = std::move(ordered);
  return found;
}

/// 0: no store.
std::int64_t version_of(PostgresConnection& connection) {
  if (connection.query("SELECT 1 WHERE pg_catalog.to_regclass('schema_version') IS NOT NULL").count() == 0) return 0;
  std::int64_t version = 0;
  Rows rows = connection.query("SELECT coalesce(max(version), 0) FROM schema_version");
  if (rows.next()) rows.read(version);
  return version;
}

// From here on: rows.

Cell cell_of(Rows& rows, int column, ColumnKind kind) {
  const auto cell = [](const auto& value) { return value ? Cell(*value) : Cell(std::monostate{}); };
  std::optional<std::int64_t> integer;
  std::optional<double> real;
  std::optional<std::string> text;
  switch (kind) {
    case ColumnKind::integer:
      rows.read_at(column, integer);
      return cell(integer);
    case ColumnKind::real:
      rows.read_at(column, real);
      return cell(real);
    default:
      rows.read_at(column, text);
      return cell(text);
  }
}

std::int64_t bytes_of(const Row& row) {
  std::size_t bytes = 0;
  for (const Cell& cell : row) {
    const auto* const text = std::get_if<std::string>(&cell);
    bytes += text == nullptr ? sizeof(double) : text->size();
  }
  return static_cast<std::int64_t>(bytes);
}

std::string select_of(const StoredTable& stored, const TableShape& table) {
  const auto type = [&](const TableColumn& column) {
    const auto known = stored.types.find(column.name);
    return known == stored.types.end() ? std::string_view() : std::string_view(known->second);
  };
  return select_rows(
      table,
      [&](const TableColumn& column) { return sql_name(column.name) + (type(column) == "boolean" ? "::integer" : ""); },
      [&](const TableColumn& column) {
        return sql_name(column.name) + (column.kind == ColumnKind::text ? R"( COLLATE "C")" : "");
      });
}

/// Through a cursor, so that the rows need not fit into memory.
Result<void> read_rows(PostgresConnection& connection, const StoredTable& stored, const TableShape& table,
                       const RowSink& sink) {
  connection.run_script("DECLARE carried NO SCROLL CURSOR FOR " + select_of(stored, table));
  Row row(table.columns.size());
  for (std::int64_t wanted = fetch_rows_first;;) {
    Rows rows = connection.query("FETCH FORWARD " + std::to_string(wanted) + " FROM carried");
    std::int64_t bytes = 1;
    while (rows.next()) {
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = cell_of(rows, static_cast<int>(i), table.columns[i].kind);
      bytes += bytes_of(row);
      TRACEWEIR_TRY_VOID(sink(row));
    }
    if (rows.count() < wanted) break;
    wanted = std::clamp(rows.count() * fetch_bytes / bytes, std::int64_t{1}, fetch_rows_max);
  }
  connection.run_script("CLOSE carried");
  return {};
}

struct AsParameter {
  Parameter operator()(std::monostate) const { return std::nullopt; }
  Parameter operator()(const auto& value) const { return value; }
};

/// A table in parts comes with a function that makes those that rows need: make_TABLE_months(BIGINT).
void make_parts(PostgresConnection& connection, const StoredTable& stored, const TableShape& table,
                std::span<const Row> rows) {
  std::size_t place = 0;
  while (table.columns[place].name != stored.parted_by) ++place;
  std::set<std::int64_t> seen;
  for (const Row& row : rows)
    if (const auto* const value = std::get_if<std::int64_t>(&row[place])) seen.insert(*value);
  connection.query(
      "SELECT " + sql_name("make_" + table.name + "_months") + "(value) FROM unnest($1::bigint[]) AS value",
      std::vector<std::int64_t>(seen.begin(), seen.end()));
}

/// All rows by one statement: each parameter is an array, the values of one column.
void write_rows(PostgresConnection& connection, const StoredTable& stored, const TableShape& table,
                std::span<const Row> rows) {
  if (!stored.parted_by.empty()) make_parts(connection, stored, table, rows);
  std::string columns, arrays;
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i].name;
    columns += (i == 0 ? "" : ", ") + sql_name(name);
    arrays += (i == 0 ? "$" : ", $") + std::to_string(i + 1) + "::" + stored.types.at(name) + "[]";
    std::vector<Parameter> values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(std::visit(AsParameter{}, row[i]));
    parameters.emplace_back(values);
  }
  connection.query_with("INSERT INTO " + sql_name(table.name) + " (" + columns +
                            ") OVERRIDING SYSTEM VALUE SELECT * FROM unnest(" + arrays + ")",
                        parameters);
}

Result<void> check_empty(PostgresConnection& connection, const std::vector<TableShape>& tables) {
  for (const TableShape& table : tables)
    if (connection.query("SELECT 1 FROM " + sql_name(table.name) + " LIMIT 1").count() > 0)
      return fail(ErrorCode::conflict, "the store is not empty: the table " + table.name + " has rows");
  return {};
}

// From here on: a snapshot.

class PostgresSnapshot final : public StoreSnapshot {
 public:
  explicit PostgresSnapshot(const std::string& address) : connection_(address) {
    connection_.begin(Access::reading, copy_settings(Access::reading));
  }

  Result<void> prepare() {
    version_ = version_of(connection_);
    if (version_ == 0) return fail(ErrorCode::store_unavailable, "store: the database is no store: it has no schema");
    TRACEWEIR_TRY(found, catalogue(connection_));
    catalogue_ = std::move(found);
    return {};
  }

  [[nodiscard]] std::int64_t version() const override { return version_; }
  [[nodiscard]] const std::vector<TableShape>& tables() const override { return catalogue_.tables; }
  Result<void> read(const TableShape& table, const RowSink& sink) override {
    return guarded([&] { return read_rows(connection_, catalogue_.stored.at(table.name), table, sink); });
  }
  Result<std::vector<std::string>> blobs(Blobs which) override {
    return guarded([&]() -> Result<std::vector<std::string>> { return texts(connection_.query(select_blobs(which))); });
  }

 private:
  PostgresConnection connection_;
  std::int64_t version_ = 0;
  Catalogue catalogue_;
};

// From here on: a target.

class PostgresTarget final : public TableTarget {
 public:
  explicit PostgresTarget(const std::string& address) : connection_(address) {}
  ~PostgresTarget() override { connection_.roll_back(); }

  Result<void> prepare(std::int64_t version) {
    const auto migrations = postgres_migrations();
    TRACEWEIR_TRY(known, known_version(version, migrations.size()));
    connection_.begin(Access::reading, copy_settings(Access::reading));
    const std::int64_t stored = version_of(connection_);
    connection_.roll_back();
    TRACEWEIR_TRY_VOID(check_not_newer(stored, version));
    TRACEWEIR_TRY_VOID(migrate_postgres(connection_, migrations.first(known)));
    connection_.begin(Access::reading, copy_settings(Access::reading));
    TRACEWEIR_TRY(found, catalogue(connection_));
    catalogue_ = std::move(found);
    TRACEWEIR_TRY_VOID(check_empty(connection_, catalogue_.tables));
    connection_.roll_back();
    return {};
  }

  [[nodiscard]] const std::vector<TableShape>& tables() const override { return catalogue_.tables; }

  Result<void> begin() override {
    return guarded([this] {
      connection_.begin(Access::writing, copy_settings(Access::writing));
      for (const TableShape& table : catalogue_.tables) connection_.run_script("LOCK TABLE " + sql_name(table.name));
      return check_empty(connection_, catalogue_.tables);
    });
  }

  Result<void> write(const TableShape& table, std::span<const Row> rows) override {
    return guarded([&]() -> Result<void> {
      write_rows(connection_, catalogue_.stored.at(table.name), table, rows);
      return {};
    });
  }

  Result<void> count_from(const TableShape& table, std::int64_t number) override {
    return guarded([&]() -> Result<void> {
      const StoredTable& stored = catalogue_.stored.at(table.name);
      if (stored.sequence.empty()) return {};
      connection_.query("SELECT setval($1::regclass, n) FROM (SELECT greatest($2::bigint, max(" +
                            sql_name(stored.numbered) + ")) AS n FROM " + sql_name(table.name) +
                            ") AS highest WHERE n > 0",
                        stored.sequence, number);
      return {};
    });
  }

  Result<void> read(const TableShape& table, const RowSink& sink) override {
    return guarded([&] { return read_rows(connection_, catalogue_.stored.at(table.name), table, sink); });
  }

  Result<void> commit() override {
    return guarded([this] {
      connection_.commit();
      return migrate_postgres(connection_, postgres_migrations());
    });
  }

 private:
  PostgresConnection connection_;
  Catalogue catalogue_;
};

/// Opens and prepares. Errors: store_unavailable, and those of prepare().
template <typename Part, typename... Arguments>
Result<std::unique_ptr<Part>> opened(std::string_view rest, Arguments... arguments) {
  TRACEWEIR_TRY(address, postgres_address(rest));
  return guarded([&]() -> Result<std::unique_ptr<Part>> {
    auto part = std::make_unique<Part>(address);
    TRACEWEIR_TRY_VOID(part->prepare(arguments...));
    return part;
  });
}

}  // namespace

Result<std::unique_ptr<StoreSnapshot>> open_postgres_snapshot(std::string_view rest) {
  return opened<PostgresSnapshot>(rest);
}

Result<std::unique_ptr<TableTarget>> open_postgres_target(std::string_view rest, std::int64_t version) {
  return opened<PostgresTarget>(rest, version);
}

}  // namespace traceweir::store
