// For: batches of events parsed side by side on several threads and handed on in the order of the file, so that nothing
// behind this can tell how many threads there were. Not for: where batches come from (kineto_document.hpp), nor what
// events mean (kineto_rows.hpp).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/kineto_event.hpp"
#include "analyzer/ingest/kineto_window.hpp"

namespace traceweir::ingest {

/// Keeps what a parser finds, to say it again later: what it says once, on one core, is told on another. Shape: the
/// tokens of the events are those of the batch; `phase` and `cat` are not kept, since `category` tells.
class RecordedEvents final : public EventSink {
 public:
  void event(const Event& event) override;
  void invalid(std::uint64_t position, std::string_view why, Repair repair) override {
    invalid_.push_back({events_.size(), position, std::string(why), repair});
  }
  /// Says all of it in the same order.
  void replay(EventSink& sink) const;
  /// Forgets all of it and keeps the memory.
  void clear() { events_.clear(), tokens_.clear(), invalid_.clear(); }

 private:
  /// An event without its tokens, of which few are there.
  struct Recorded {
    std::uint64_t position;
    std::uint32_t present;  ///< a bit for each token that is there
    Category category;
    bool odd;
  };
  struct Invalid {
    std::size_t before;  ///< how many events came first
    std::uint64_t position;
    std::string why;
    Repair repair;
  };
  std::vector<Recorded> events_;
  std::vector<std::string_view> tokens_;
  std::vector<Invalid> invalid_;
};

/// Takes events in the order of the file, and is told where a batch of them ends.
class BatchSink : public EventSink {
 public:
  /// Behind the last event of a batch that begins at `position` of the file. `counts`: of this batch alone.
  /// Errors: not_a_trace.
  virtual Result<void> batch_ends(const EventCounts& counts, std::uint64_t position) = 0;
};

/// The way from the source through the parsers to the sink.
/// Thread: put() and drain() from one; the sink is called from any, one at a time, and not after drain().
class BatchLine {
 public:
  /// Shape: `threads` counts the one that calls put(), which helps; 1: it does everything, and nothing is recorded.
  BatchLine(std::size_t threads, BatchSink& sink);
  BatchLine(const BatchLine&) = delete;
  BatchLine& operator=(const BatchLine&) = delete;
  ~BatchLine();

  /// Adds the next batch; waits, and helps, where enough are on their way. Gives back memory of a batch that is done.
  /// Errors: those of the sink about an earlier batch, or this one.
  Result<TextMemory> put(TextBatch batch);

  /// Waits until the sink has taken all that was put. Errors: those of the sink.
  Result<void> drain();

 private:
  enum class State { waiting, parsing, parsed };
  struct Slot {
    TextBatch text;
    EventTexts texts;  ///< the rest of what tokens refer to
    RecordedEvents events;
    EventCounts counts;
    State state = State::waiting;
  };
  using Lock = std::unique_lock<std::mutex>;

  Result<void> straight_on(TextBatch& batch, EventParser& parser);
  void start_threads();
  void work(EventParser& parser);
  Slot* next_waiting();
  void help(Lock& lock);
  void parse(Slot& slot, EventParser& parser, Lock& lock);
  void record(Slot& slot, EventParser& parser, Lock& lock);
  Result<void> say(const Slot& slot);
  template <typename Say>
  void hand_on_front(Lock& lock, Say say);
  void hand_on(Lock& lock);
  [[nodiscard]] Result<void> outcome() const;

  BatchSink& sink_;
  std::size_t threads_max_;
  std::size_t batches_ = 0;
  std::list<EventParser> parsers_;  ///< of put() first, then one per thread
  std::vector<std::thread> threads_;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Slot>> slots_;   ///< in the order of the file
  std::vector<RecordedEvents> spare_events_;  ///< memory to use again
  std::vector<TextMemory> spare_texts_;
  bool handing_on_ = false;
  bool closed_ = false;
  std::optional<Error> error_;
  std::exception_ptr thrown_;
};

}  // namespace traceweir::ingest
