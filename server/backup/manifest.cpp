#include "server/backup/manifest.hpp"

#include "server/wire/json.hpp"

namespace traceweir::backup {
namespace {

using wire::Json;

Json to_json(const BackedUpTable& table) {
  Json columns = Json::array();
  for (const store::TableColumn& column : table.shape.columns)
    columns.push_back({{"name", column.name}, {"kind", std::string(word(column.kind))}});
  Json json{{"name", table.shape.name},
            {"rows", table.digest.rows},
            {"sha256", table.digest.sha256},
            {"key", table.shape.key},
            {"columns", columns}};
  if (table.shape.last_number) json["last_number"] = *table.shape.last_number;
  return json;
}

/// The texts under `key`; none where there is no list.
std::vector<std::string> texts(wire::ObjectReader& reader, std::string_view key) {
  std::vector<std::string> found;
  const Json* const list = reader.child(key);
  if (list == nullptr || !list->is_array()) {
    reader.refuse(key, "a list was expected");
    return found;
  }
  for (const Json& text : *list) {
    if (!text.is_string()) reader.refuse(key, "a list of texts was expected");
    if (text.is_string()) found.push_back(text.get<std::string>());
  }
  return found;
}

/// Errors: bad_body.
Result<store::TableColumn> column_of(const Json& json) {
  wire::ObjectReader reader(json);
  const std::string name = reader.text("name");
  const auto kind = store::column_kind_of(reader.text("kind"));
  if (!kind) reader.refuse("kind", "integer, real or text was expected");
  if (reader.error()) return tl::unexpected(*reader.error());
  return store::TableColumn{name, *kind};
}

/// Errors: bad_body.
Result<BackedUpTable> table_of(const Json& json) {
  wire::ObjectReader reader(json);
  BackedUpTable table;
  table.shape.name = table.digest.table = reader.text("name");
  table.digest.rows = reader.integer("rows");
  table.digest.sha256 = reader.text("sha256");
  table.shape.key = texts(reader, "key");
  table.shape.last_number = reader.maybe_integer("last_number");
  const Json* const columns = reader.child("columns");
  if (columns == nullptr || !columns->is_array() || columns->empty()) reader.refuse("columns", "a list was expected");
  if (reader.error()) return tl::unexpected(*reader.error());
  for (const Json& each : *columns) {
    TRACEWEIR_TRY(column, column_of(each));
    table.shape.columns.push_back(std::move(column));
  }
  return table;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  Json tables = Json::array();
  for (const BackedUpTable& table : manifest.tables) tables.push_back(to_json(table));
  const Json json{{"schema", manifest_schema},
                  {"program_version", manifest.program_version},
                  {"store_version", manifest.store_version},
                  {"taken_at", manifest.taken_at},
                  {"traces", manifest.traces == Traces::with},
                  {"blobs", manifest.blobs},
                  {"blob_bytes", manifest.blob_bytes},
                  {"missing", manifest.missing},
                  {"damaged", manifest.damaged},
                  {"tables", tables}};
  return wire::dump(json) + '\n';
}

Result<Manifest> manifest_of(std::string_view text) {
  TRACEWEIR_TRY(json, wire::parse_json(text));
  wire::ObjectReader reader(json);
  Manifest manifest;
  if (reader.text("schema") != manifest_schema)
    reader.refuse("schema", "expected " + std::string(manifest_schema) + ": use the program that wrote the backup");
  manifest.program_version = reader.text("program_version");
  manifest.store_version = reader.integer("store_version");
  manifest.taken_at = reader.text("taken_at");
  manifest.traces = reader.boolean("traces") ? Traces::with : Traces::without;
  manifest.blobs = reader.integer("blobs");
  manifest.blob_bytes = static_cast<std::uint64_t>(reader.integer("blob_bytes"));
  manifest.missing = texts(reader, "missing");
  manifest.damaged = texts(reader, "damaged");
  const Json* const tables = reader.child("tables");
  if (tables == nullptr || !tables->is_array()) reader.refuse("tables", "a list was expected");
  if (reader.error()) return tl::unexpected(*reader.error());
  for (const Json& each : *tables) {
    TRACEWEIR_TRY(table, table_of(each));
    manifest.tables.push_back(std::move(table));
  }
  return manifest;
}

}  // namespace traceweir::backup
