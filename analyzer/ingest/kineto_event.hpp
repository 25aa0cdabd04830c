// For: the events of a Kineto trace that a metric needs, as tokens of the JSON text. Not for: what they mean
// (kineto_rows.hpp), nor where events begin and end (kineto_document.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::ingest {

/// What a row is, by its `cat` alone. Source: spec of formats, section 4.2; names of 2021 included.
enum class Category : std::uint8_t {
  unneeded,
  kernel,
  memcpy,
  memset,
  call,             ///< `cuda_runtime`, `cuda_driver`, `Runtime`; HIP calls come under these names too
  user_annotation,  ///< a range that the user opened
  gpu_annotation,   ///< its copy on the GPU: no work, but it names the collectives under it
  operator_2021,    ///< `Operator`: holds the steps and the data loading of 2021 files
  cpu_op,           ///< only `enumerate(DataLoader)` and `record_param_comms`
};

/// Shape: compared without regard to case.
Category category_of(std::string_view cat);

/// Whether rows of it are GPU work.
bool is_work(Category category);

/// Whether some release of the PyTorch profiler, on any accelerator, writes this `cat`; other tracers write others.
bool is_kineto_category(std::string_view cat);

/// Values inside `args`. Shape: JSON tokens as they stand in the text (strings with quotes); empty: absent.
struct EventArgs {
  std::string_view device;
  std::string_view stream;
  std::string_view correlation;
  std::string_view bytes;
  std::string_view external_id;
  std::string_view graph_node;
  std::string_view collective;
  std::string_view in_elements;
  std::string_view out_elements;
  std::string_view group_size;
  std::string_view dtype;
  std::string_view group;
  std::string_view group_ranks;  ///< a list is the whole list
  std::string_view sequence;
};

/// One row that may be needed. Shape: tokens as in EventArgs; valid as EventParser::parse says.
struct Event {
  Category category = Category::unneeded;
  bool odd = false;  ///< a value that no metric needs is no JSON (NaN, Infinity)
  std::uint64_t position = 0;
  std::string_view phase;
  std::string_view cat;
  std::string_view name;
  std::string_view ts;
  std::string_view dur;
  std::string_view pid;
  std::string_view tid;
  EventArgs args;

  /// Makes it an event at `at` of which nothing is known but what is in `args`.
  void begin_at(std::uint64_t at) {
    category = Category::unneeded;
    odd = false;
    position = at;
    // One by one: as a chain each would be read before it is written, and wait for it.
    phase = {};
    cat = {};
    name = {};
    ts = {};
    dur = {};
    pid = {};
    tid = {};
  }
};

/// Takes events in the order of the file.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(const Event& event) = 0;
  /// A row that is no valid JSON: `used` where it could be read all the same; else whether GPU work is lost with it.
  enum class Repair { used, dropped, dropped_work };
  virtual void invalid(std::uint64_t position, std::string_view why, Repair repair) = 0;
};

/// Counts of events: whether this is a trace at all.
struct EventCounts {
  std::int64_t objects = 0;
  std::int64_t others = 0;       ///< elements that are no objects
  std::int64_t phases = 0;       ///< objects with a `ph`
  std::int64_t of_kineto = 0;    ///< whether there was one of is_kineto_category
  std::int64_t passed_over = 0;  ///< events with a `cat` that no metric needs

  void add(const EventCounts& more);
};

/// Texts of a parser's own, which tokens of mended events refer to. Shape: they stay where they are when it is moved.
using EventTexts = std::deque<std::string>;

/// Reads batches of events. Rows of no interest are left as soon as `ph` or `cat` says so.
/// Thread: one at a time.
class EventParser {
 public:
  EventParser();
  ~EventParser();
  EventParser(EventParser&&) = delete;
  EventParser& operator=(EventParser&&) = delete;

  /// Reads `elements`, which begin at `position` of the file. Shape: as in TextBatch; the byte before and the byte
  /// behind may be overwritten during the call. Tokens are valid as long as the elements and take_texts().
  void parse(std::span<char> elements, std::uint64_t position, EventSink& sink);

  /// What tokens of the last batch refer to besides its own text.
  EventTexts take_texts();
  /// The counts of the last batch.
  EventCounts take_counts();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What `distributedInfo` states.
struct DistributedInfo {
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::string nccl_version;
};

/// Errors: malformed_trace (no JSON object).
Result<DistributedInfo> distributed_info_of(std::string_view json);

/// Device ordinal and product name of each entry of `deviceProperties`.
/// Errors: malformed_trace (no JSON array).
Result<std::vector<std::pair<std::int64_t, std::string>>> device_names_of(std::string_view json);

}  // namespace traceweir::ingest
