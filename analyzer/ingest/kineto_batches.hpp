// For: batches of events, each read and parsed by one of several threads, and handed on in the order of the file, so
// that nothing behind this can tell how many threads there were. Not for: where batches come from
// (kineto_document.hpp), nor what events mean (kineto_rows.hpp).
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
#include "analyzer/ingest/kineto_document.hpp"
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

/// The way from a source through parsers to the sink.
/// Thread: run() from one; the source and the sink are called from any, one at a time, and not after run().
class BatchLine {
 public:
  /// Shape: `threads` counts the one that calls run(). `alone`: so many batches it does by itself before others start.
  BatchLine(std::size_t threads, BatchSink& sink, std::size_t alone = 1);

  /// Takes all batches of a source to the sink.
  /// Errors: those of the sink; the source is not asked for more then.
  Result<void> run(BatchSource& source);

 private:
  /// One thread's things. What was read on one core is parsed there, in memory that the core had before.
  struct Worker {
    EventParser parser;
    std::vector<TextMemory> memory;
  };
  struct Slot {
    TextBatch text;
    Worker* worker = nullptr;
    RecordedEvents events;
    EventTexts texts;  ///< the rest of what tokens refer to
    EventCounts counts;
    bool parsed = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  void start_threads(std::vector<std::thread>& threads);
  void work(Worker& worker);
  Slot* take(Worker& worker);
  void parse(Slot& slot);
  void record(Slot& slot);
  Result<void> say(const Slot& slot);
  Result<void> straight_on(Slot& slot);
  template <typename Say>
  void hand_on_front(Lock& lock, Say say);
  void hand_on(Lock& lock);
  [[nodiscard]] bool stopped() const { return ended_ || error_ || thrown_; }

  BatchSink& sink_;
  std::size_t threads_max_;
  std::size_t alone_;
  std::list<Worker> workers_;  ///< of run() first
  BatchSource* source_ = nullptr;
  std::mutex source_mutex_;  ///< guards the source; taken before the other

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Slot>> slots_;   ///< in the order of the file
  std::vector<RecordedEvents> spare_events_;  ///< memory to use again
  bool handing_on_ = false;
  bool ended_ = false;  ///< the source has no more
  std::optional<Error> error_;
  std::exception_ptr thrown_;
};

}  // namespace traceweir::ingest
