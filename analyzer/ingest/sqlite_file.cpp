#include "analyzer/ingest/sqlite_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "analyzer/ingest/sqlite_header.hpp"
#include "analyzer/ingest/sqlite_schema_size.hpp"
#include "analyzer/ingest/sqlite_vfs.hpp"

namespace traceweir::ingest {
namespace {

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

/// Trees of indexes, and of tables without row ids.
bool is_index_page(unsigned char kind) { return kind == 2 || kind == 10; }

/// Whether a table is meant by an entry of the readable ones. Shape: both in lower case.
bool stands_for(std::string_view entry, std::string_view table) {
  if (!entry.ends_with(any_uuid)) return entry == table;
  entry.remove_suffix(any_uuid.size());
  if (!table.starts_with(entry)) return false;
  const std::string_view uuid = table.substr(entry.size());
  return uuid.size() > 1 && uuid.front() == '_' &&
         uuid.find_first_not_of("0123456789abcdef_") == std::string_view::npos;
}

/// What a failure of SQLite means for the caller. Everything that is not here is damage.
struct Failure {
  int code;
  ErrorCode error;
  const char* what;
};
constexpr Failure failures[] = {
    {SQLITE_INTERRUPT, ErrorCode::malformed_trace, "it takes more steps than a database of its size can need"},
    {SQLITE_TOOBIG, ErrorCode::malformed_trace, "it has a value, a row or a statement larger than we read"},
    {SQLITE_NOMEM, ErrorCode::malformed_trace, "it needs more memory than we give it"},
    {SQLITE_AUTH, ErrorCode::malformed_trace, "it wants what only views, triggers or functions need"},
    {SQLITE_IOERR, ErrorCode::io_failed, "the file cannot be read"},
    {SQLITE_CANTOPEN, ErrorCode::io_failed, "the file cannot be opened"},
    {SQLITE_PERM, ErrorCode::io_failed, "the file cannot be opened"},
};

tl::unexpected<Error> failure_of(sqlite3* db, int code) {
  const std::string said = clean_text(db == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db), 200);
  for (const Failure& failure : failures)
    if (failure.code == (code & 0xFF)) return fail(failure.error, fmt::format("SQLite: {} ({})", failure.what, said));
  return fail(ErrorCode::malformed_trace, fmt::format("SQLite: the database is damaged ({})", said));
}

struct Switch {
  int option;
  int value;
};
constexpr Switch switches[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
};

constexpr Switch size_limits[] = {
    {SQLITE_LIMIT_SQL_LENGTH, 100'000},     {SQLITE_LIMIT_COLUMN, 200},         {SQLITE_LIMIT_EXPR_DEPTH, 20},
    {SQLITE_LIMIT_COMPOUND_SELECT, 3},      {SQLITE_LIMIT_FUNCTION_ARG, 8},     {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50}, {SQLITE_LIMIT_VARIABLE_NUMBER, 32}, {SQLITE_LIMIT_WORKER_THREADS, 0},
};
// One program checks all tables and is as long as the schema; after it, ours are short.
constexpr int check_program_steps_max = 4'000'000;
constexpr int query_program_steps_max = 25'000;

// CHECK constraints are expressions of the file's author, and the check of the pages would evaluate them.
constexpr const char* settings[] = {"PRAGMA cell_size_check=ON", "PRAGMA mmap_size=0", "PRAGMA temp_store=MEMORY",
                                    "PRAGMA ignore_check_constraints=ON"};

constexpr std::string_view allowed_pragmas[] = {"quick_check", "table_xinfo"};
constexpr int steps_between_checks = 10'000;

}  // namespace

struct SqliteFile::Connection {
  sqlite3* db = nullptr;
  std::vector<std::string> readable;  ///< lower case
  std::int64_t steps_max = 0;         ///< per query
  std::int64_t steps_left = 0;

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { sqlite3_close_v2(db); }

  [[nodiscard]] bool may_read(std::string_view table) const {
    const std::string name = lower_case(table);
    return std::any_of(readable.begin(), readable.end(),
                       [&](std::string_view entry) { return stands_for(entry, name); });
  }
  Result<void> connect(int descriptor);
  Result<void> harden(const SqliteLimits& limits);
  static int authorize(void* self, int action, const char* what, const char* detail, const char* database,
                       const char* through);
  static int spend_steps(void* self);
};

Result<void> SqliteFile::Connection::connect(int descriptor) {
  const std::string name = std::to_string(descriptor);
  constexpr int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags, descriptor_vfs());
  if (code != SQLITE_OK) return failure_of(db, code);
  return {};
}

Result<void> SqliteFile::Connection::harden(const SqliteLimits& limits) {
  for (const auto [option, value] : switches) {
    const int code = sqlite3_db_config(db, option, value, nullptr);
    if (code != SQLITE_OK) return failure_of(db, code);
  }
  sqlite3_drop_modules(db, nullptr);
  for (const auto [limit, value] : size_limits) sqlite3_limit(db, limit, value);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, static_cast<int>(limits.value_bytes_max));
  sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, check_program_steps_max);
  for (const char* setting : settings) {
    const int code = sqlite3_exec(db, setting, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return failure_of(db, code);
  }
  sqlite3_set_authorizer(db, authorize, this);
  sqlite3_progress_handler(db, steps_between_checks, spend_steps, this);
  return {};
}

int SqliteFile::Connection::authorize(void* self, int action, const char* what, const char* /*detail*/,
                                      const char* /*database*/, const char* through) {
  const auto& connection = *static_cast<const Connection*>(self);
  const std::string_view name = what == nullptr ? "" : what;
  if (through != nullptr) return SQLITE_DENY;  // a view or a trigger asks
  if (action == SQLITE_SELECT) return SQLITE_OK;
  if (action == SQLITE_READ) return name == "sqlite_master" || connection.may_read(name) ? SQLITE_OK : SQLITE_DENY;
  const bool pragma = action == SQLITE_PRAGMA;
  return pragma && std::find(std::begin(allowed_pragmas), std::end(allowed_pragmas), name) != std::end(allowed_pragmas)
             ? SQLITE_OK
             : SQLITE_DENY;
}

int SqliteFile::Connection::spend_steps(void* self) {
  auto& connection = *static_cast<Connection*>(self);
  connection.steps_left -= steps_between_checks;
  return connection.steps_left < 0 ? 1 : 0;
}

void SqliteRows::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteRows::SqliteRows(sqlite3_stmt* statement)
    : statement_(statement), cells_(static_cast<std::size_t>(sqlite3_column_count(statement))) {}

Result<bool> SqliteRows::next() {
  sqlite3_stmt* const row = statement_.get();
  const int code = sqlite3_step(row);
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) return failure_of(sqlite3_db_handle(row), code);
  int column = 0;
  for (Cell& cell : cells_) {
    switch (sqlite3_column_type(row, column)) {
      case SQLITE_INTEGER:
        cell = {.type = Cell::Type::integer, .integer = sqlite3_column_int64(row, column), .text = {}};
        break;
      case SQLITE_TEXT: {
        const void* const bytes = sqlite3_column_text(row, column);
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
        cell = {.type = Cell::Type::text, .text = {static_cast<const char*>(bytes), bytes == nullptr ? 0 : size}};
        break;
      }
      case SQLITE_BLOB: {
        const void* const bytes = sqlite3_column_blob(row, column);
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
        cell = {.type = Cell::Type::blob, .text = {static_cast<const char*>(bytes), bytes == nullptr ? 0 : size}};
        break;
      }
      case SQLITE_NULL:
        cell = {};
        break;
      default:
        cell = {.type = Cell::Type::real, .text = {}, .real = sqlite3_column_double(row, column)};
    }
    ++column;
  }
  return true;
}

SqliteFile::SqliteFile(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
SqliteFile::~SqliteFile() = default;
SqliteFile::SqliteFile(SqliteFile&&) noexcept = default;
SqliteFile& SqliteFile::operator=(SqliteFile&&) noexcept = default;

Result<SqliteFile> SqliteFile::open(int descriptor, std::span<const std::string_view> readable,
                                    const SqliteLimits& limits) {
  TRACEWEIR_TRY(file_bytes, check_sqlite_header(descriptor));
  if (file_bytes > limits.file_bytes_max)
    return fail(ErrorCode::trace_too_large,
                fmt::format("the database has {} bytes; inflated_bytes_max is {}", file_bytes, limits.file_bytes_max));
  TRACEWEIR_TRY_VOID(check_schema_size(descriptor, limits.schema_rows_max));
  auto connection = std::make_unique<Connection>();
  for (const std::string_view table : readable) connection->readable.push_back(lower_case(table));
  connection->steps_max = limits.steps_base + limits.steps_per_byte * static_cast<std::int64_t>(file_bytes);
  sqlite3_hard_heap_limit64(limits.heap_bytes_max);
  TRACEWEIR_TRY_VOID(connection->connect(descriptor));
  TRACEWEIR_TRY_VOID(connection->harden(limits));
  // From here on SQLite itself is closed to what the file could ask of it.

  SqliteFile file(std::move(connection));
  file.descriptor_ = descriptor;
  file.row_bytes_max_ = static_cast<std::size_t>(limits.value_bytes_max);
  TRACEWEIR_TRY_VOID(file.claim_pages());
  TRACEWEIR_TRY_VOID(file.inspect_schema(limits));
  // From here on every table that we read is a plain one. Whether its pages are sound shows when it is read.

  sqlite3_limit(file.connection_->db, SQLITE_LIMIT_VDBE_OP, query_program_steps_max);
  return file;
}

const SqliteFile::Table* SqliteFile::find(std::string_view table) const {
  const auto found = readable_.find(lower_case(table));
  return found == readable_.end() ? nullptr : &found->second;
}

bool SqliteFile::has_table(std::string_view table) const { return !columns(table).empty(); }

std::span<const std::string> SqliteFile::columns(std::string_view table) const {
  const Table* const found = find(table);
  if (found == nullptr) return {};
  return found->columns;
}

Result<std::optional<SqliteScan>> SqliteFile::scan(std::string_view table, std::span<const std::string_view> columns) {
  const Table* const found = find(table);
  TRACEWEIR_ASSERT(found != nullptr);
  TRACEWEIR_TRY(pages, SqlitePages::open(descriptor_));
  std::vector<ScanColumn> wanted;
  for (const std::string_view column : columns) {
    const auto same = [&](const std::string& name) { return lower_case(name) == lower_case(column); };
    const auto at = std::find_if(found->columns.begin(), found->columns.end(), same);
    ScanColumn& into = wanted.emplace_back();
    if (at == found->columns.end()) continue;
    into.field = static_cast<std::size_t>(at - found->columns.begin());
    into.is_rowid = found->rowid == into.field;
    if (found->defaulted.contains(*into.field)) return std::optional<SqliteScan>();
  }
  TRACEWEIR_TRY(rowids, has_rowids(*found));
  if (!rowids || !pages.is_utf8()) return std::optional<SqliteScan>();
  return std::optional(SqliteScan::of(std::move(pages), found->tree, wanted, row_bytes_max_));
}

Result<bool> SqliteFile::has_rowids(const Table& table) const {
  TRACEWEIR_TRY(pages, SqlitePages::open(descriptor_));
  TRACEWEIR_TRY(root, pages.page(table.tree.root));
  return !is_index_page(root[0]);
}

/// Trees without row ids are not ours to walk, so that SQLite compares all of the file.
Result<void> SqliteFile::check(std::string_view table) {
  const Table* const found = find(table);
  TRACEWEIR_ASSERT(found != nullptr);
  if (checked_.contains(lower_case(table))) return {};
  TRACEWEIR_TRY(rowids, has_rowids(*found));
  if (rowids) {
    TRACEWEIR_TRY(pages, SqlitePages::open(descriptor_));
    TRACEWEIR_TRY_VOID(SqliteScan::of(std::move(pages), found->tree, {}, row_bytes_max_).finish());
  }
  TRACEWEIR_TRY_VOID(check_by_sqlite(rowids ? fmt::format("PRAGMA quick_check({})", sql_name(table))
                                            : std::string("PRAGMA quick_check(1)")));
  checked_.insert(lower_case(table));
  return {};
}

Result<void> SqliteFile::check_by_sqlite(const std::string& pragma) {
  sqlite3_limit(connection_->db, SQLITE_LIMIT_VDBE_OP, check_program_steps_max);
  TRACEWEIR_TRY(check, query(pragma));
  sqlite3_limit(connection_->db, SQLITE_LIMIT_VDBE_OP, query_program_steps_max);
  TRACEWEIR_TRY(said, check.next());
  if (said && check.cells()[0].text == "ok") return {};
  return fail(ErrorCode::malformed_trace,
              fmt::format("the database is damaged: {}", clean_text(said ? check.cells()[0].text : "no answer", 200)));
}

Result<SqliteRows> SqliteFile::query(const std::string& sql) {
  if (connection_->steps_max <= 0) return failure_of(nullptr, SQLITE_INTERRUPT);
  connection_->steps_left = connection_->steps_max;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_->db, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return failure_of(connection_->db, code);
  TRACEWEIR_ASSERT(statement != nullptr);
  return SqliteRows(statement);
}

/// What no table may have: pages that are free or the format's own, and those of the schema.
Result<void> SqliteFile::claim_pages() {
  TRACEWEIR_TRY(pages, SqlitePages::open(descriptor_));
  TRACEWEIR_TRY(owners, PageOwners::open(pages));
  owners_ = std::make_unique<PageOwners>(std::move(owners));
  const ScanTree schema{.root = 1, .owner = PageOwner::schema, .owners = owners_.get()};
  return SqliteScan::of(std::move(pages), schema, {}, row_bytes_max_).finish();
}

Result<void> SqliteFile::inspect_schema(const SqliteLimits& limits) {
  TRACEWEIR_TRY(schema, query("SELECT type, name, tbl_name, rootpage FROM sqlite_master"));
  std::int64_t rows = 0;
  std::vector<ScanTree> trees;  // of tables_
  for (;;) {
    TRACEWEIR_TRY(more, schema.next());
    if (!more) break;
    if (++rows > limits.schema_rows_max)
      return fail(ErrorCode::malformed_trace,
                  fmt::format("the database has more than {} tables, views and indexes", limits.schema_rows_max));
    const auto cells = schema.cells();
    const std::string_view type = cells[0].text;
    const bool plain_table = type == "table" && cells[3].integer > 0;
    const bool ours = connection_->may_read(type == "trigger" ? cells[2].text : cells[1].text);
    if (ours && type != "index" && !plain_table)
      return fail(ErrorCode::malformed_trace,
                  fmt::format("{} is not a plain table: the database has a {} there, which no profiler makes",
                              clean_text(cells[1].text, 80), type == "table" ? "virtual table" : clean_text(type, 20)));
    if (cells[3].integer == 0) continue;
    TRACEWEIR_TRY(owner, owners_->add_tree(cells[3].integer));
    if (!plain_table) continue;
    tables_.emplace_back(cells[1].text);
    trees.push_back({static_cast<PageNumber>(cells[3].integer), owner, owners_.get()});
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) TRACEWEIR_TRY_VOID(inspect_table(tables_[i], trees[i]));
  return {};
}

Result<void> SqliteFile::inspect_table(const std::string& table, ScanTree tree) {
  TRACEWEIR_TRY(info, query(fmt::format("PRAGMA table_xinfo({})", sql_name(table))));
  Table out{.tree = tree, .columns = {}, .defaulted = {}, .rowid = {}};
  std::size_t keys = 0;
  for (;;) {
    TRACEWEIR_TRY(more, info.next());
    if (!more) break;
    const auto cells = info.cells();
    enum : std::size_t { name = 1, type = 2, standard = 4, key = 5, hidden = 6 };
    // Refused in any table: the check of the pages would compute them.
    if (cells[hidden].integer != 0)
      return fail(ErrorCode::malformed_trace,
                  fmt::format("table {} has a generated column, which no profiler makes", clean_text(table, 80)));
    if (cells[standard].type != Cell::Type::null) out.defaulted.insert(out.columns.size());
    if (cells[key].integer != 0) ++keys;
    if (cells[key].integer != 0 && lower_case(cells[type].text) == "integer") out.rowid = out.columns.size();
    out.columns.emplace_back(cells[name].text);
  }
  if (keys != 1) out.rowid.reset();
  if (connection_->may_read(table)) readable_.emplace(lower_case(table), std::move(out));
  return {};
}

}  // namespace traceweir::ingest
