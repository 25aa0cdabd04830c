#include "server/store/tables.hpp"

#include <algorithm>

#include "analyzer/core/words.hpp"
#include "server/store/postgres_tables.hpp"
#include "server/store/sqlite_tables.hpp"
#include "server/store/url.hpp"

namespace traceweir::store {
namespace {

constexpr Word<ColumnKind> kinds[] = {
    {ColumnKind::integer, "integer"}, {ColumnKind::real, "real"}, {ColumnKind::text, "text"}};

struct TableEngine {
  std::string_view scheme;
  Result<std::unique_ptr<StoreSnapshot>> (*snapshot)(std::string_view address);
  Result<std::unique_ptr<TableTarget>> (*target)(std::string_view address, std::int64_t version);
};

constexpr TableEngine table_engines[] = {{"sqlite:", &open_sqlite_snapshot, &open_sqlite_target},
                                         {"postgresql://", &open_postgres_snapshot, &open_postgres_target},
                                         {"postgres://", &open_postgres_snapshot, &open_postgres_target}};

/// Errors: bad_config.
Result<std::pair<const TableEngine*, std::string_view>> engine_of(std::string_view url) {
  TRACEWEIR_TRY_VOID(check_url(url));
  const auto* const engine = std::find_if(std::begin(table_engines), std::end(table_engines),
                                          [&](const TableEngine& e) { return url.starts_with(e.scheme); });
  return std::pair(engine, url.substr(engine->scheme.size()));
}

}  // namespace

std::string_view word(ColumnKind kind) { return word_of(kinds, kind); }
std::optional<ColumnKind> column_kind_of(std::string_view word) { return value_of(kinds, word); }

bool is_copied(std::string_view table) {
  return std::none_of(std::begin(uncopied_tables), std::end(uncopied_tables),
                      [&](const UncopiedTable& row) { return row.name == table; });
}

std::string_view select_blobs(Blobs which) {
  if (which == Blobs::all) return "SELECT DISTINCT sha256 FROM upload WHERE removed_us IS NULL";
  return "SELECT DISTINCT u.sha256 FROM upload u JOIN run r ON r.seq = u.run_seq "
         "WHERE r.status IN ('pending', 'analysing')";
}

Result<std::unique_ptr<StoreSnapshot>> open_snapshot(std::string_view url) {
  TRACEWEIR_TRY(found, engine_of(url));
  return found.first->snapshot(found.second);
}

Result<std::unique_ptr<TableTarget>> open_target(std::string_view url, std::int64_t version) {
  TRACEWEIR_TRY(found, engine_of(url));
  return found.first->target(found.second, version);
}

Result<std::vector<TableShape>> in_order_of_reference(std::vector<TableShape> tables,
                                                      const std::map<std::string, std::set<std::string>>& references) {
  std::sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<TableShape> ordered;
  std::set<std::string> placed;
  const auto is_free = [&](const TableShape& table) {
    const auto known = references.find(table.name);
    if (known == references.end()) return true;
    return std::all_of(known->second.begin(), known->second.end(),
                       [&](const std::string& other) { return other == table.name || placed.contains(other); });
  };
  while (!tables.empty()) {
    const auto next = std::find_if(tables.begin(), tables.end(), is_free);
    if (next == tables.end())
      return fail(ErrorCode::internal,
                  "store: the table " + tables.front().name + " is part of a circle of references");
    placed.insert(next->name);
    ordered.push_back(std::move(*next));
    tables.erase(next);
  }
  return ordered;
}

std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::string select_rows(const TableShape& table, const std::function<std::string(const TableColumn&)>& column,
                        const std::function<std::string(const TableColumn&)>& order) {
  std::string columns, key;
  for (const TableColumn& each : table.columns) columns += (columns.empty() ? "" : ", ") + column(each);
  for (const std::string& name : table.key)
    for (const TableColumn& each : table.columns)
      if (each.name == name) key += (key.empty() ? " ORDER BY " : ", ") + order(each);
  return "SELECT " + columns + " FROM " + sql_name(table.name) + key;
}

}  // namespace traceweir::store
