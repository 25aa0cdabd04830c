#include "analyzer/ingest/nsys_payload.hpp"

#include <string>

#include "analyzer/ingest/nsys_schema.hpp"

namespace traceweir::ingest::nsys {
namespace {

constexpr std::size_t header_bytes = 32;
constexpr std::size_t schemas_max = 4096;

// Beyond this no message is one; products with a group's size stay far from overflow.
constexpr std::uint64_t message_bytes_max = std::uint64_t{1} << 44;
constexpr std::uint64_t ranks_max = 1'000'000;

/// NCCL's static schemas. Source: spec of formats, section 1.7; NCCL, nvtx_payload_schemas.h.
constexpr std::uint64_t static_schemas = 0x1000000;
constexpr std::uint64_t sized_first = 4, sized_last = 10, sized_later_first = 16, sized_later_last = 18;
constexpr std::uint64_t about_communicators[] = {0, 2, 3, 11, 12};
constexpr std::size_t second_field = 8;

/// What a field holds, by the words of its name in NVTX_PAYLOAD_SCHEMA_ENTRIES. The first that is in the name counts.
struct FieldWord {
  std::string_view word;
  std::optional<std::size_t> PayloadLayout::*field;
};
constexpr FieldWord field_words[] = {{"arent", nullptr},  // a split tells the communicator that it was made of too
                                     {"communicator", &PayloadLayout::communicator},
                                     {"essage size", &PayloadLayout::bytes},
                                     {"o. of ranks", &PayloadLayout::ranks}};

std::map<std::uint64_t, PayloadLayout> known_layouts() {
  std::map<std::uint64_t, PayloadLayout> layouts;
  const PayloadLayout sized{.communicator = 0, .bytes = second_field, .ranks = {}};
  for (std::uint64_t id = sized_first; id <= sized_last; ++id) layouts[static_schemas + id] = sized;
  for (std::uint64_t id = sized_later_first; id <= sized_later_last; ++id) layouts[static_schemas + id] = sized;
  for (const std::uint64_t id : about_communicators)
    layouts[static_schemas + id] = {.communicator = 0, .bytes = {}, .ranks = second_field};
  return layouts;
}

void add_field(PayloadLayout& layout, std::string_view name, std::size_t offset) {
  for (const FieldWord& row : field_words) {
    if (name.find(row.word) == std::string_view::npos) continue;
    if (row.field != nullptr && !(layout.*row.field)) layout.*row.field = offset;
    return;
  }
}

/// `count` little-endian bytes at `offset`; nothing past the end.
std::optional<std::uint64_t> number_at(std::string_view bytes, std::size_t offset, std::size_t count) {
  if (bytes.size() < count || offset > bytes.size() - count) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = count; i > 0; --i) number = number << 8U | static_cast<unsigned char>(bytes[offset + i - 1]);
  return number;
}

/// The payload behind its header; empty where header and size do not agree.
std::string_view payload_in(std::string_view blob) {
  const auto size = number_at(blob, 16, 8);
  const auto offset = number_at(blob, 24, 8);
  if (!size || !offset || blob.size() < header_bytes) return {};
  const std::uint64_t begin = *offset < header_bytes ? header_bytes : *offset;
  if (begin > blob.size() || *size > blob.size() - begin) return {};
  return blob.substr(begin, *size);
}

std::optional<std::int64_t> up_to(std::optional<std::uint64_t> number, std::uint64_t most) {
  if (!number || *number > most) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace

Result<PayloadSchemas> PayloadSchemas::read(SqliteFile& file) {
  PayloadSchemas schemas;
  schemas.layouts_ = known_layouts();
  std::map<std::uint64_t, PayloadLayout> stated;
  TRACEWEIR_TRY(rows, TableRows::open(file, payload_entries_table, {"schemaId", "name", "offset"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more || stated.size() > schemas_max) break;
    const auto offset = integer_or(rows[2], 0);  // the first field states none
    if (rows[0].type != Cell::Type::integer || rows[1].type != Cell::Type::text || !offset || *offset < 0) continue;
    add_field(stated[static_cast<std::uint64_t>(rows[0].integer)], rows[1].text, static_cast<std::size_t>(*offset));
  }
  for (const auto& [id, layout] : stated)
    if (layout.communicator) schemas.layouts_[id] = layout;
  return schemas;
}

std::optional<NcclPayload> PayloadSchemas::decode(std::string_view blob) const {
  const auto schema = number_at(blob, 8, 8);
  const auto layout = schema ? layouts_.find(*schema) : layouts_.end();
  if (layout == layouts_.end()) return std::nullopt;
  const std::string_view payload = payload_in(blob);
  const auto communicator = number_at(payload, *layout->second.communicator, 8);
  if (!communicator) return std::nullopt;
  NcclPayload out{.communicator = *communicator, .bytes = {}, .ranks = {}};
  if (layout->second.bytes) out.bytes = up_to(number_at(payload, *layout->second.bytes, 8), message_bytes_max);
  if (layout->second.ranks) out.ranks = up_to(number_at(payload, *layout->second.ranks, 4), ranks_max);
  return out;
}

}  // namespace traceweir::ingest::nsys
