#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "server/wire/json.hpp"
#include "server/wire/listing.hpp"

namespace traceweir::wire {
namespace {

// A page may hold 10 000 points of fifteen values each: they are written one after the other, without a tree of them.

constexpr std::uint64_t in_each_byte(std::uint64_t value) { return value * 0x0101010101010101U; }

/// Whether all eight characters stand for themselves in JSON. With its top bit set no byte of a difference borrows from
/// the next one, so that the top bits say of each byte whether it was large enough.
bool are_plain(std::uint64_t eight) {
  constexpr std::uint64_t top = in_each_byte(0x80);
  const auto differs_from = [eight](std::uint64_t c) { return ((eight ^ in_each_byte(c)) | top) - in_each_byte(1); };
  const std::uint64_t printable = ((eight | top) - in_each_byte(0x20)) & differs_from(0x7f);
  return (eight & top) == 0 && (printable & differs_from('"') & differs_from('\\') & top) == top;
}

bool is_plain(std::string_view text) {
  std::uint64_t eight = 0;
  for (; text.size() >= sizeof eight; text.remove_prefix(sizeof eight)) {
    std::memcpy(&eight, text.data(), sizeof eight);
    if (!are_plain(eight)) return false;
  }
  eight = in_each_byte(' ');
  std::memcpy(&eight, text.data(), text.size());
  return are_plain(eight);
}

/// The text in quotes. Ids, hashes and most subjects need no escaping.
void append(std::string& out, std::string_view text) {
  if (!is_plain(text)) {
    out += dump(Json(text));
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

/// Documents have no infinity.
void append(std::string& out, double value) {
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(out), "{}", value);
  else
    out += "null";
}

void append(std::string& out, bool value) { out += value ? "true" : "false"; }
void append(std::string& out, std::int64_t value) { fmt::format_to(std::back_inserter(out), "{}", value); }
void append(std::string& out, Timestamp time) { append(out, std::string_view(to_rfc3339(time))); }
void append(std::string& out, const std::string& text) { append(out, std::string_view(text)); }
void append(std::string& out, const gate::NoiseBand& band);
void append(std::string& out, const HistoryPoint& point);
void append(std::string& out, const HistoryChange& change);
void append(std::string& out, const HistorySegment& segment);

template <typename T>
void append(std::string& out, const std::vector<T>& values) {
  out += '[';
  for (const T& value : values) {
    if (out.back() != '[') out += ',';
    append(out, value);
  }
  out += ']';
}

template <typename T>
void append(std::string& out, const std::optional<T>& value) {
  if (value)
    append(out, *value);
  else
    out += "null";
}

/// An object's next key and value.
template <typename T>
void add(std::string& out, std::string_view key, const T& value) {
  out += out.back() == '{' ? "\"" : ",\"";
  out += key;
  out += "\":";
  append(out, value);
}

std::optional<std::string> stated(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

void append(std::string& out, const gate::NoiseBand& band) {
  out += '{';
  add(out, "level", band.level);
  add(out, "low", band.low);
  add(out, "high", band.high);
  out += '}';
}

void append(std::string& out, const HistoryPoint& point) {
  out += '{';
  add(out, "run", point.run);
  add(out, "commit", point.commit);
  add(out, "branch", stated(point.branch));
  add(out, "subject", point.subject);
  add(out, "author", point.author);
  add(out, "committed_at", point.committed_at);
  add(out, "uploaded_at", point.uploaded_at);
  add(out, "value", point.value);
  add(out, "outcome", point.outcome ? std::optional(gate::word(*point.outcome)) : std::nullopt);
  add(out, "environment", point.environment);
  add(out, "superseded", point.superseded);
  add(out, "accepted", point.accepted);
  add(out, "in_baseline", point.in_baseline);
  add(out, "band", point.band);
  out += '}';
}

void append(std::string& out, const HistoryChange& change) {
  out += '{';
  add(out, "run", change.run);
  add(out, "commit", change.commit);
  add(out, "previous_commit", change.previous_commit);
  add(out, "environment", change.environment);
  add(out, "before", change.before);
  add(out, "after", change.after);
  add(out, "magnitude", change.magnitude);
  add(out, "p", change.p);
  add(out, "better", change.better);
  add(out, "accepted", change.accepted);
  out += '}';
}

void append(std::string& out, const HistorySegment& segment) {
  out += '{';
  add(out, "environment", segment.environment);
  add(out, "first_run", segment.first_run);
  add(out, "first_commit", segment.first_commit);
  add(out, "last_run", segment.last_run);
  add(out, "last_commit", segment.last_commit);
  add(out, "runs", segment.runs);
  add(out, "level", segment.level);
  add(out, "noise", segment.noise);
  add(out, "began", segment.began);
  out += '}';
}

std::optional<Timestamp> known_time_of(ObjectReader& in, std::string_view key) {
  const auto text = in.maybe_text(key);
  return text ? from_rfc3339(*text) : std::nullopt;
}

/// An older service does not say it.
bool flag_of(ObjectReader& in, std::string_view key) { return in.child(key) != nullptr && in.boolean(key); }

std::optional<gate::NoiseBand> band_of(ObjectReader& in) {
  const Json* json = in.child("band");
  if (json == nullptr) return std::nullopt;
  ObjectReader inner(*json);
  gate::NoiseBand band{inner.number("level"), inner.number("low"), inner.number("high")};
  if (inner.error()) in.refuse("band", "level, low and high were expected");
  return band;
}

Result<HistoryPoint> point_of(const Json& json) {
  ObjectReader in(json);
  HistoryPoint point;
  point.run = in.text("run");
  point.commit = in.text("commit");
  point.branch = in.maybe_text("branch").value_or("");
  point.environment = in.maybe_text("environment").value_or("");
  point.committed_at = known_time_of(in, "committed_at");
  const auto uploaded = from_rfc3339(in.text("uploaded_at"));
  if (!uploaded) in.refuse("uploaded_at", "a time was expected");
  point.uploaded_at = uploaded.value_or(Timestamp{});
  point.value = in.number("value");
  if (const auto text = in.maybe_text("outcome")) point.outcome = gate::outcome_of(*text);
  point.subject = in.maybe_text("subject").value_or("");
  point.author = in.maybe_text("author").value_or("");
  point.superseded = flag_of(in, "superseded");
  point.accepted = flag_of(in, "accepted");
  point.in_baseline = flag_of(in, "in_baseline");
  point.band = band_of(in);
  if (in.error()) return tl::unexpected(*in.error());
  return point;
}

Result<HistoryChange> history_change_of(const Json& json) {
  ObjectReader in(json);
  HistoryChange change;
  change.run = in.text("run");
  change.commit = in.text("commit");
  change.previous_commit = in.text("previous_commit");
  change.environment = in.maybe_text("environment").value_or("");
  change.before = in.number("before");
  change.after = in.number("after");
  change.magnitude = in.number("magnitude");
  change.p = in.number("p");
  if (in.child("better") != nullptr) change.better = in.boolean("better");
  change.accepted = flag_of(in, "accepted");
  if (in.error()) return tl::unexpected(*in.error());
  return change;
}

Result<HistorySegment> segment_of(const Json& json) {
  ObjectReader in(json);
  HistorySegment segment;
  segment.environment = in.maybe_text("environment").value_or("");
  segment.first_run = in.text("first_run");
  segment.first_commit = in.text("first_commit");
  segment.last_run = in.text("last_run");
  segment.last_commit = in.text("last_commit");
  segment.runs = in.integer("runs");
  segment.level = in.number("level");
  segment.noise = in.number("noise");
  segment.began = in.text("began");
  if (in.error()) return tl::unexpected(*in.error());
  return segment;
}

template <typename T>
Result<std::vector<T>> list_of(ObjectReader& in, std::string_view key, Result<T> (*value_of)(const Json&)) {
  std::vector<T> values;
  const Json* list = in.child(key);
  if (list == nullptr) return values;
  for (const Json& item : *list) {
    TRACEWEIR_TRY(value, value_of(item));
    values.push_back(std::move(value));
  }
  return values;
}

/// Quotes a field where it needs it. A leading `=`, `+`, `-`, `@` would be run as a formula by spreadsheets.
std::string csv_field(std::string_view text) {
  std::string field;
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) field += '\'';
  field += text;
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string band_fields(const std::optional<gate::NoiseBand>& band) {
  return band ? fmt::format("{},{},{}", band->level, band->low, band->high) : ",,";
}

}  // namespace

std::string to_json(const HistoryDocument& history) {
  std::string out = "{";
  out.reserve(1'024 + 640 * history.points.size());
  add(out, "metric", history.metric);
  add(out, "unit", history.unit);
  add(out, "better", traceweir::word(history.better));
  add(out, "points", history.points);
  add(out, "change_points", history.changes);
  add(out, "segments", history.segments);
  add(out, "next", std::optional<std::string>{});
  out += '}';
  return out;
}

std::string to_csv(const HistoryDocument& history) {
  std::string csv =
      "run,commit,branch,committed_at,uploaded_at,value,unit,outcome,environment,subject,author,superseded,accepted,"
      "in_baseline,level,low,high\r\n";
  for (const HistoryPoint& point : history.points) {
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", csv_field(point.run),
                       csv_field(point.commit), csv_field(point.branch),
                       point.committed_at ? to_rfc3339(*point.committed_at) : "", to_rfc3339(point.uploaded_at),
                       point.value, history.unit, point.outcome ? gate::word(*point.outcome) : "",
                       csv_field(point.environment), csv_field(point.subject), csv_field(point.author),
                       point.superseded, point.accepted, point.in_baseline, band_fields(point.band));
  }
  return csv;
}

Result<HistoryDocument> history_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  HistoryDocument history;
  history.metric = in.text("metric");
  history.unit = in.text("unit");
  history.better = better_of(in.text("better")).value_or(Better::none);
  TRACEWEIR_TRY(points, list_of(in, "points", &point_of));
  TRACEWEIR_TRY(changes, list_of(in, "change_points", &history_change_of));
  TRACEWEIR_TRY(segments, list_of(in, "segments", &segment_of));
  history.points = std::move(points);
  history.changes = std::move(changes);
  history.segments = std::move(segments);
  if (in.error()) return tl::unexpected(*in.error());
  return history;
}

}  // namespace traceweir::wire
