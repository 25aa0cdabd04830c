// All that is known of simdjson.
#include <simdjson.h>

#include <algorithm>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "analyzer/ingest/kineto_brackets.hpp"
#include "analyzer/ingest/kineto_event.hpp"
#include "analyzer/ingest/kineto_number.hpp"
#include "analyzer/ingest/kineto_text.hpp"
#include "analyzer/ingest/kineto_window.hpp"

namespace traceweir::ingest {
namespace {

namespace ondemand = simdjson::ondemand;
using Repair = EventSink::Repair;

static_assert(TextWindow::padding_bytes > simdjson::SIMDJSON_PADDING, "one byte more, for the bracket behind a batch");

/// A key and where its value goes.
template <typename Into>
struct Key {
  std::string_view key;
  std::string_view Into::*token;
};

constexpr Key<Event> event_keys[] = {
    {"ph", &Event::phase}, {"cat", &Event::cat}, {"name", &Event::name}, {"pid", &Event::pid},
    {"tid", &Event::tid},  {"ts", &Event::ts},   {"dur", &Event::dur},
};

constexpr Key<EventArgs> args_keys[] = {
    {"device", &EventArgs::device},
    {"stream", &EventArgs::stream},
    {"correlation", &EventArgs::correlation},
    {"bytes", &EventArgs::bytes},
    {"External id", &EventArgs::external_id},
    {"external id", &EventArgs::external_id},
    {"graph node id", &EventArgs::graph_node},
    {"Collective name", &EventArgs::collective},
    {"In msg nelems", &EventArgs::in_elements},
    {"Out msg nelems", &EventArgs::out_elements},
    {"Group size", &EventArgs::group_size},
    {"dtype", &EventArgs::dtype},
    {"Process Group Name", &EventArgs::group},
    {"Process Group Ranks", &EventArgs::group_ranks},
    {"Seq", &EventArgs::sequence},
};

/// Of equal sizes, and short: a call would cost more than the comparison.
bool same(std::string_view a, std::string_view b) {
  std::size_t at = 1;
  while (at < a.size() && a[at] == b[at]) ++at;
  return at >= a.size();
}

template <typename Into, std::size_t n>
std::string_view Into::*find(const Key<Into> (&keys)[n], std::string_view key) {
  for (const Key<Into>& row : keys)
    if (row.key.size() == key.size() && row.key.front() == key.front() && same(row.key, key)) return row.token;
  return nullptr;
}

/// The key as it is written. Keys longer than any of ours, and escaped ones, are cut: they match none.
std::string_view key_of(ondemand::field& field) {
  constexpr std::size_t longest = 24;
  const char* const begin = field.key().raw();
  return {begin, static_cast<std::size_t>(std::find(begin, begin + longest, '"') - begin)};
}

/// A scalar as it stands in the text; of a container the bracket.
std::string_view token_of(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

/// What a token of text says; nothing where it is another kind of value.
std::string_view text_of(std::string_view token) {
  return token.size() > 1 && token.front() == '"' ? token.substr(1, token.size() - 2) : std::string_view();
}

/// Whether a token begins as JSON allows: NaN and Infinity do not.
bool begins_as_json(std::string_view token) {
  if (token.empty()) return false;
  const char first = token.front();
  if (first == '-') return token.size() > 1 && is_digit(token[1]);
  return is_digit(first) || first == '"' || first == '{' || first == '[' || token == "true" || token == "false" ||
         token == "null";
}

/// Whether a CPU operator tells something about the GPU's work: what loaded data, and what a collective was.
bool is_needed_cpu_op(std::string_view name_token) {
  return name_token.starts_with("\"enumerate(DataLoader)") || name_token == "\"record_param_comms\"";
}

/// Whether what is known of an event so far says that nobody needs it.
bool is_unneeded(const Event& event) {
  constexpr std::string_view complete = "\"X\"";
  const bool is_complete =
      event.phase.size() == complete.size() && event.phase[0] == '"' && same(complete, event.phase);
  if (!event.phase.empty() && !is_complete) return true;
  if (event.cat.empty()) return false;
  if (event.category == Category::unneeded) return true;
  return event.category == Category::cpu_op && !event.name.empty() && !is_needed_cpu_op(event.name);
}

/// Whether an event that cannot be read says that it is GPU work.
bool mentions_work(std::string_view event) {
  constexpr std::string_view key = "\"cat\"";
  constexpr std::string_view between = ": \t\r\n";
  for (std::size_t at = event.find(key); at != std::string_view::npos; at = event.find(key, at)) {
    at = event.find_first_not_of(between, at + key.size());
    if (at == std::string_view::npos) return false;
    const std::string_view value = event.substr(at);
    if (value.starts_with('"') && is_work(category_of(value.substr(1, value.find('"', 1) - 1)))) return true;
  }
  return false;
}

simdjson::error_code read_args(ondemand::object args, Event& out) {
  for (auto entry : args) {
    ondemand::field field;
    if (const auto error = std::move(entry).get(field)) return error;
    std::string_view token = token_of(field.value());
    const auto slot = find(args_keys, key_of(field));
    if (slot == &EventArgs::group_ranks && token.starts_with('[')) {
      ondemand::array ranks;
      if (const auto error = field.value().get_array().get(ranks)) return error;
      if (const auto error = ranks.raw_json().get(token)) return error;
    }
    if (slot != nullptr) out.args.*slot = token;
    if (!begins_as_json(token)) out.odd = true;
  }
  return simdjson::SUCCESS;
}

/// Reads an event until nobody needs it, else to its end. `out.category` says which; `reads_args`: out.args may be
/// filled.
simdjson::error_code read_event(ondemand::object object, Event& out, bool& reads_args) {
  for (auto entry : object) {
    ondemand::field field;
    if (const auto error = std::move(entry).get(field)) return error;
    const std::string_view key = key_of(field);
    if (key == "args") {
      ondemand::object args;
      if (field.value().get_object().get(args) != simdjson::SUCCESS) continue;  // null, or nothing that we can use
      reads_args = true;
      if (const auto error = read_args(args, out)) return error;
      continue;
    }
    const auto slot = find(event_keys, key);
    if (slot == nullptr) continue;
    out.*slot = token_of(field.value());
    if (slot == &Event::cat) out.category = category_of(text_of(out.cat));
    if (is_unneeded(out)) return out.category = Category::unneeded, simdjson::SUCCESS;
  }
  if (out.phase.empty() || out.cat.empty()) out.category = Category::unneeded;
  return simdjson::SUCCESS;
}

}  // namespace

struct EventParser::State {
  /// Where strict reading of a batch stopped.
  struct Stop {
    std::size_t at;  ///< offset of an element in the batch; its size: all is read
    bool read;       ///< the element at that offset is done, what follows is not
  };

  Stop parse_batch(std::span<char> elements, std::uint64_t position, EventSink& sink);
  Stop parse_array(std::span<char> elements, std::uint64_t position, EventSink& sink);
  simdjson::error_code make_room(std::size_t bytes);
  void parse_each(std::span<char> elements, std::uint64_t position, bool first_is_done, EventSink& sink);
  void parse_alone(std::span<char> element, std::uint64_t position, EventSink& sink);
  void hand_over(const Event& event, EventSink& sink);
  void no_object(std::uint64_t position, EventSink& sink);
  void check_gap(std::string_view gap, std::uint64_t position, EventSink& sink);

  ondemand::parser parser;
  EventTexts texts;                                ///< of mended events
  simdjson::error_code error = simdjson::SUCCESS;  ///< why the last batch stopped
  EventCounts counts;
};

EventParser::EventParser() : state_(std::make_unique<State>()) {}
EventParser::~EventParser() = default;
EventTexts EventParser::take_texts() { return std::exchange(state_->texts, {}); }
EventCounts EventParser::take_counts() { return std::exchange(state_->counts, {}); }

void EventCounts::add(const EventCounts& more) {
  objects += more.objects;
  others += more.others;
  phases += more.phases;
  of_kineto += more.of_kineto;
  passed_over += more.passed_over;
}

void EventParser::parse(std::span<char> elements, std::uint64_t position, EventSink& sink) {
  if (elements.empty()) return;
  const State::Stop stop = state_->parse_batch(elements, position, sink);
  if (stop.at < elements.size()) state_->parse_each(elements.subspan(stop.at), position + stop.at, stop.read, sink);
}

/// The quick way: all elements as one array, whose brackets stand in for the bytes around them.
EventParser::State::Stop EventParser::State::parse_batch(std::span<char> elements, std::uint64_t position,
                                                         EventSink& sink) {
  char& front = *(elements.data() - 1);
  char& back = *(elements.data() + elements.size());
  const char front_was = std::exchange(front, '[');
  const char back_was = std::exchange(back, ']');
  const Stop stop = parse_array(elements, position, sink);
  front = front_was;
  back = back_was;
  return stop;
}

/// A little more than is needed: the parser would fit itself to each batch that is longer than those before, and touch
/// fresh memory every time.
simdjson::error_code EventParser::State::make_room(std::size_t bytes) {
  return bytes <= parser.capacity() ? simdjson::SUCCESS : parser.allocate(bytes + bytes / 8);
}

EventParser::State::Stop EventParser::State::parse_array(std::span<char> elements, std::uint64_t position,
                                                         EventSink& sink) {
  const std::size_t size = elements.size() + 2;
  ondemand::document document;
  ondemand::array array;
  const simdjson::padded_string_view text(elements.data() - 1, size, size + simdjson::SIMDJSON_PADDING);
  error = make_room(size);
  if (!error) error = parser.iterate(text).get(document);
  if (!error) error = document.get_array().get(array);
  if (error) return {0, false};
  Stop stop{0, false};
  Event event;
  bool reads_args = false;
  for (auto element : array) {
    ondemand::value value;
    error = std::move(element).get(value);
    if (error) return stop;
    const std::string_view token = value.raw_json_token();
    stop = {static_cast<std::size_t>(token.data() - elements.data()), false};
    if (token.front() == '[') {
      no_object(position + stop.at, sink);
      stop.read = true;
      continue;
    }
    if (token.front() != '{') return stop;  // text between events, however much, counts once: the patient way does
    // Most events end before their args: clearing all of them would cost as much as reading.
    if (std::exchange(reads_args, false)) event.args = {};
    event.begin_at(position + stop.at);
    ondemand::object object;
    error = value.get_object().get(object);
    if (!error) error = read_event(object, event, reads_args);
    if (error) return stop;
    hand_over(event, sink);
    stop.read = true;
  }
  return {elements.size(), true};
}

/// The patient way, where a batch holds something that is no JSON: each element alone.
void EventParser::State::parse_each(std::span<char> elements, std::uint64_t position, bool first_is_done,
                                    EventSink& sink) {
  struct Part {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Part> parts;
  std::int64_t depth = 0;
  BracketScanner scanner;
  const std::string_view text(elements.data(), elements.size());
  scanner.scan(text, [&](std::size_t at, bool opens) {
    if (opens && depth++ == 0) parts.push_back({at, at});
    if (!opens && --depth == 0) parts.back().end = at + 1;
    return depth >= 0;
  });
  std::size_t done = 0;
  for (std::size_t i = 0; i < parts.size() && parts[i].end > parts[i].begin; ++i) {
    const Part part = parts[i];
    const bool is_done = i == 0 && first_is_done;
    const std::string_view gap = text.substr(done, part.begin - done);
    const std::size_t comma = gap.find_first_not_of(" \t\r\n");
    if (i > 0 && (comma == std::string_view::npos || gap[comma] != ','))
      sink.invalid(position + done, "no comma between two events", Repair::used);
    check_gap(gap, position + done, sink);
    done = part.end;
    if (!is_done) parse_alone(elements.subspan(part.begin, part.end - part.begin), position + part.begin, sink);
  }
  check_gap(text.substr(done), position + done, sink);
}

/// What stands between two elements may only be a comma.
void EventParser::State::check_gap(std::string_view gap, std::uint64_t position, EventSink& sink) {
  if (gap.find_first_not_of(", \t\r\n") != std::string_view::npos) no_object(position, sink);
}

void EventParser::State::parse_alone(std::span<char> element, std::uint64_t position, EventSink& sink) {
  if (parse_batch(element, position, sink).read) return;
  const simdjson::error_code strict = error;
  std::string& scratch = texts.emplace_back("[" + repaired({element.data(), element.size()}));
  const std::size_t size = scratch.size() - 1;
  scratch.resize(1 + size + TextWindow::padding_bytes);
  const bool used = parse_batch({scratch.data() + 1, size}, position, sink).read;
  const auto lost = mentions_work({element.data(), element.size()}) ? Repair::dropped_work : Repair::dropped;
  sink.invalid(position, simdjson::error_message(strict), used ? Repair::used : lost);
  if (!used) ++counts.objects;
}

void EventParser::State::hand_over(const Event& event, EventSink& sink) {
  ++counts.objects;
  // One is enough: the look-up is not for every row of a large trace.
  if (counts.of_kineto == 0 && !event.cat.empty() && is_kineto_category(text_of(event.cat))) ++counts.of_kineto;
  if (!event.phase.empty() || !event.cat.empty()) ++counts.phases;
  if (event.category != Category::unneeded) return sink.event(event);
  if (!event.cat.empty()) ++counts.passed_over;
}

void EventParser::State::no_object(std::uint64_t position, EventSink& sink) {
  ++counts.others;
  sink.invalid(position, "an element of the events that is no object", Repair::dropped);
}

namespace {

/// A document of its own, from text that may need repair. Shape: `padded` holds the text and outlives the document.
Result<ondemand::document> document_of(std::string_view json, ondemand::parser& parser,
                                       simdjson::padded_string& padded) {
  ondemand::document document;
  padded = simdjson::padded_string(repaired(json));
  if (const auto error = parser.iterate(padded).get(document))
    return fail(ErrorCode::malformed_trace, simdjson::error_message(error));
  return document;
}

std::string text_of(ondemand::value& value) {
  const std::string_view token = token_of(value);
  std::string scratch;
  return token.starts_with('"') ? std::string(string_text(token, scratch).text) : std::string();
}

}  // namespace

Result<DistributedInfo> distributed_info_of(std::string_view json) {
  ondemand::parser parser;
  simdjson::padded_string padded;
  TRACEWEIR_TRY(document, document_of(json, parser, padded));
  ondemand::object object;
  if (document.get_object().get(object)) return fail(ErrorCode::malformed_trace, "no object");
  DistributedInfo out;
  for (auto entry : object) {
    ondemand::field field;
    if (const auto error = std::move(entry).get(field))
      return fail(ErrorCode::malformed_trace, simdjson::error_message(error));
    const std::string_view key = key_of(field);
    if (key == "rank") out.rank = integer_of(token_of(field.value()));
    if (key == "world_size") out.world_size = integer_of(token_of(field.value()));
    if (key == "nccl_version") out.nccl_version = text_of(field.value());
  }
  return out;
}

Result<std::vector<std::pair<std::int64_t, std::string>>> device_names_of(std::string_view json) {
  ondemand::parser parser;
  simdjson::padded_string padded;
  TRACEWEIR_TRY(document, document_of(json, parser, padded));
  ondemand::array array;
  if (document.get_array().get(array)) return fail(ErrorCode::malformed_trace, "no array");
  std::vector<std::pair<std::int64_t, std::string>> out;
  for (auto element : array) {
    ondemand::object object;
    if (element.get_object().get(object)) return fail(ErrorCode::malformed_trace, "a device that is no object");
    std::optional<std::int64_t> id;
    std::string name;
    for (auto entry : object) {
      ondemand::field field;
      if (const auto error = std::move(entry).get(field))
        return fail(ErrorCode::malformed_trace, simdjson::error_message(error));
      const std::string_view key = key_of(field);
      if (key == "id") id = integer_of(token_of(field.value()));
      if (key == "name") name = text_of(field.value());
    }
    if (id) out.emplace_back(*id, std::move(name));
  }
  return out;
}

}  // namespace traceweir::ingest
