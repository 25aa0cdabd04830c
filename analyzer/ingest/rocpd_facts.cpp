#include "analyzer/ingest/rocpd_facts.hpp"

#include <fmt/format.h>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/small_json.hpp"

namespace traceweir::ingest::rocpd {
namespace {

using nsys::TableRows;

// What a job writes into a range is short; more is no name.
constexpr std::size_t extra_bytes_max = 64 * 1024;
constexpr std::size_t version_bytes_max = 60;

std::optional<std::int64_t> integer_of(const Cell& cell) {
  return cell.type == Cell::Type::integer ? std::optional(cell.integer) : std::nullopt;
}

/// The first of two that is there.
std::optional<std::int64_t> either(const Cell& first, std::optional<std::int64_t> second) {
  return first.type == Cell::Type::null ? second : integer_of(first);
}

/// Both spellings of categories: `MARKER_CORE_RANGE_API` and `rocm_marker_api`.
bool names_markers(std::string_view category) {
  return category.find("MARKER") != std::string_view::npos || category.find("marker") != std::string_view::npos;
}

}  // namespace

Result<Facts> Facts::read(SqliteFile& file, const Capture& capture) {
  Facts facts;
  TRACEWEIR_TRY_VOID(facts.read_producer(file, capture));
  TRACEWEIR_TRY_VOID(facts.read_times(file, capture));
  TRACEWEIR_TRY_VOID(facts.read_tracks(file, capture));
  TRACEWEIR_TRY_VOID(facts.read_agents(file, capture));
  TRACEWEIR_TRY_VOID(facts.read_events(file, capture));
  return facts;
}

Result<void> Facts::read_producer(SqliteFile& file, const Capture& capture) {
  producer_ = "rocprofv3";
  TRACEWEIR_TRY(rows, TableRows::open(file, capture.table(metadata_table), {"value"}, "\"tag\" = 'schema_version'"));
  TRACEWEIR_TRY(more, rows.next());
  if (more && rows[0].type == Cell::Type::text)
    producer_ += fmt::format(", rocpd schema {}", clean_text(rows[0].text, version_bytes_max));
  return {};
}

Result<void> Facts::read_times(SqliteFile& file, const Capture& capture) {
  TRACEWEIR_TRY(rows, TableRows::open(file, capture.table(time_table), {"id", "value"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) break;
    if (rows[0].type == Cell::Type::integer && rows[1].type == Cell::Type::integer)
      times_.add(rows[0].integer, rows[1].integer);
  }
  times_.close();
  return {};
}

Result<void> Facts::read_tracks(SqliteFile& file, const Capture& capture) {
  TRACEWEIR_TRY(rows, TableRows::open(file, capture.table(track_table),
                                      {"id", "pid", "tid", "agent_id", "stream_id", "queue_id"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) break;
    if (rows[0].type != Cell::Type::integer) continue;
    tracks_.add(rows[0].integer, {.process = integer_of(rows[1]),
                                  .thread = integer_of(rows[2]),
                                  .agent = integer_of(rows[3]),
                                  .stream = either(rows[4], integer_of(rows[5]))});
  }
  tracks_.close();
  return {};
}

Result<void> Facts::read_agents(SqliteFile& file, const Capture& capture) {
  // Its uuid is the id of the product on the bus, the same for all GPUs of a kind.
  TRACEWEIR_TRY(rows,
                TableRows::open(file, capture.table(agent_table),
                                {"id", "type", "type_index", "logical_index", "product_name", "name", "model_name"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) break;
    if (rows[0].type != Cell::Type::integer) continue;
    Agent agent;
    agent.is_gpu = rows[1].text != "CPU";
    agent.ordinal = either(rows[2], either(rows[3], rows[0].integer)).value_or(rows[0].integer);
    for (const std::size_t column : {std::size_t{4}, std::size_t{5}, std::size_t{6}})
      if (agent.name.empty() && rows[column].type == Cell::Type::text) agent.name = rows[column].text;
    agents_.add(rows[0].integer, std::move(agent));
  }
  agents_.close();
  return {};
}

Result<void> Facts::read_events(SqliteFile& file, const Capture& capture) {
  // Categories are strings, or from schema 4 rows of a table of their own.
  const bool own_table = file.has_table(capture.table(category_table));
  TRACEWEIR_TRY(categories, nsys::Strings::read(file, capture.table(own_table ? category_table : string_table),
                                                {"id", own_table ? "name" : "string"}));
  TRACEWEIR_TRY(rows, TableRows::open(file, capture.table(event_table), {"id", "category_id", "stack_id", "extdata"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) break;
    if (rows[0].type != Cell::Type::integer) continue;
    Event event;
    event.correlation = integer_of(rows[2]).value_or(0);
    const auto category = categories.find(rows[1]);
    event.is_marker = category && names_markers(categories.text(*category));
    if (event.is_marker) event.message = keep_message(rows[3].text);
    events_.add(rows[0].integer, event);
  }
  events_.close();
  return {};
}

std::uint32_t Facts::keep_message(std::string_view extra) {
  if (extra.size() > extra_bytes_max) return timeline::none;
  const auto parsed = parse_small_json(extra);
  const SmallJson* const message = parsed ? parsed->find("message") : nullptr;
  if (message == nullptr || message->kind != SmallJson::Kind::text) return timeline::none;
  const auto [known, is_new] = message_ids_.try_emplace(message->text, static_cast<std::uint32_t>(messages_.size()));
  if (is_new) messages_.push_back(message->text);
  return known->second;
}

std::optional<Place> Facts::place_of(const TableRows& rows) const {
  const auto time = [&](const Cell& inline_time, const Cell& id) {
    const std::int64_t* const value = times_.find(id);
    return either(inline_time, value == nullptr ? std::nullopt : std::optional(*value));
  };
  const Track* const named = tracks_.find(rows[track_id]);
  const Track track = named == nullptr ? Track{} : *named;
  const auto begins = time(rows[start], rows[start_id]);
  const auto ends = time(rows[end], rows[end_id]);
  const auto process = either(rows[pid], track.process);
  if (!begins || !ends || !process) return std::nullopt;
  return Place{.span = {Nanos{*begins}, Nanos{*ends}},
               .process = *process,
               .thread = either(rows[tid], track.thread).value_or(0),
               .stream = either(rows[stream_id], either(rows[queue_id], track.stream)).value_or(0),
               .agent = either(rows[agent_id], track.agent)};
}

Event Facts::event_of(const TableRows& rows) const {
  const Event* const event = events_.find(rows[event_id]);
  return event == nullptr ? Event{} : *event;
}

Agent Facts::agent(std::optional<std::int64_t> id) const {
  const Agent* const known = id ? agents_.find(*id) : nullptr;
  return known == nullptr ? Agent{.is_gpu = true, .ordinal = id.value_or(0), .name = {}} : *known;
}

std::string_view Facts::message(const Event& event) const {
  return event.message == timeline::none ? std::string_view() : std::string_view(messages_[event.message]);
}

}  // namespace traceweir::ingest::rocpd
