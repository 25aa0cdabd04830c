// For: the tables of a rocpd database to which its rows of work and calls point: events, tracks, times, agents.
// Not for: those rows (rocpd_sqlite.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/time.hpp"
#include "analyzer/ingest/nsys_schema.hpp"
#include "analyzer/ingest/nsys_strings.hpp"
#include "analyzer/ingest/rocpd_schema.hpp"
#include "analyzer/ingest/sqlite_file.hpp"

namespace traceweir::ingest::rocpd {

/// Rows by their id. Of several with one id the first counts.
template <class Value>
class ById {
 public:
  void add(std::int64_t id, Value value) { rows_.emplace_back(id, std::move(value)); }
  /// To be called once, after the last add(). Cost: O(n) where ids ascend, as profilers write them.
  void close() {
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(rows_.begin(), rows_.end(), before)) std::stable_sort(rows_.begin(), rows_.end(), before);
  }
  /// The row with the id in `cell`, or nullptr. Cost: O(log n).
  [[nodiscard]] const Value* find(const Cell& cell) const {
    return cell.type == Cell::Type::integer ? find(cell.integer) : nullptr;
  }
  [[nodiscard]] const Value* find(std::int64_t id) const {
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), id,
                                        [](const auto& row, std::int64_t key) { return row.first < key; });
    return found == rows_.end() || found->first != id ? nullptr : &found->second;
  }

 private:
  std::vector<std::pair<std::int64_t, Value>> rows_;
};

/// A GPU or a CPU.
struct Agent {
  bool is_gpu = true;
  std::int64_t ordinal = 0;  ///< among the GPUs
  std::string name;          ///< of the product; empty: unknown
};

/// What a row says of itself besides its own columns.
struct Event {
  std::int64_t correlation = 0;            ///< of the call itself, and of the work that it launched
  bool is_marker = false;                  ///< of roctx
  std::uint32_t message = timeline::none;  ///< of a marker: index in Facts::message
};

/// Where and when a row was.
struct Place {
  Interval span;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t stream = 0;
  std::optional<std::int64_t> agent;
};

/// The columns with which rows of work and regions are to be read; in either layout some are absent.
inline constexpr std::string_view place_columns[] = {"start",    "end",       "start_id", "end_id",   "pid",     "tid",
                                                     "agent_id", "stream_id", "queue_id", "track_id", "event_id"};
enum PlaceColumn : std::size_t {
  start,
  end,
  start_id,
  end_id,
  pid,
  tid,
  agent_id,
  stream_id,
  queue_id,
  track_id,
  event_id,
  own
};

/// All those tables of one database.
/// Thread: immutable after read().
class Facts {
 public:
  /// Errors: malformed_trace, io_failed.
  static Result<Facts> read(SqliteFile& file, const Capture& capture);

  /// Nothing: a time or a process is missing or of the wrong type.
  [[nodiscard]] std::optional<Place> place_of(const nsys::TableRows& rows) const;
  /// The event of a row; without one an empty Event.
  [[nodiscard]] Event event_of(const nsys::TableRows& rows) const;
  [[nodiscard]] Agent agent(std::optional<std::int64_t> id) const;
  [[nodiscard]] std::string_view message(const Event& event) const;
  /// `rocprofv3, rocpd schema 3`.
  [[nodiscard]] const std::string& producer() const { return producer_; }

 private:
  /// Of a row that does not say it itself.
  struct Track {
    std::optional<std::int64_t> process, thread, agent, stream;
  };
  Result<void> read_producer(SqliteFile& file, const Capture& capture);
  Result<void> read_times(SqliteFile& file, const Capture& capture);
  Result<void> read_tracks(SqliteFile& file, const Capture& capture);
  Result<void> read_agents(SqliteFile& file, const Capture& capture);
  Result<void> read_events(SqliteFile& file, const Capture& capture);
  std::uint32_t keep_message(std::string_view extra);

  std::string producer_;
  ById<std::int64_t> times_;
  ById<Track> tracks_;
  ById<Agent> agents_;
  ById<Event> events_;
  std::vector<std::string> messages_;
  std::unordered_map<std::string, std::uint32_t> message_ids_;
};

}  // namespace traceweir::ingest::rocpd
