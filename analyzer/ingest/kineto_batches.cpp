#include "analyzer/ingest/kineto_batches.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace traceweir::ingest {
namespace {

/// Batches on their way, per thread. Fewer let threads wait for each other.
constexpr std::size_t slots_per_thread = 2;

constexpr std::string_view Event::*event_tokens[] = {&Event::name, &Event::ts, &Event::dur, &Event::pid, &Event::tid};
constexpr std::string_view EventArgs::*args_tokens[] = {
    &EventArgs::device,       &EventArgs::stream,     &EventArgs::correlation, &EventArgs::bytes,
    &EventArgs::external_id,  &EventArgs::graph_node, &EventArgs::collective,  &EventArgs::in_elements,
    &EventArgs::out_elements, &EventArgs::group_size, &EventArgs::dtype,       &EventArgs::group,
    &EventArgs::group_ranks,  &EventArgs::sequence};
// None of the arguments is forgotten here.
static_assert(sizeof(EventArgs) == std::size(args_tokens) * sizeof(std::string_view));
static_assert(std::size(event_tokens) + std::size(args_tokens) <= 32);

}  // namespace

void RecordedEvents::event(const Event& event) {
  Recorded& out = events_.emplace_back(Recorded{event.position, 0, event.category, event.odd});
  std::uint32_t bit = 1;
  const auto keep = [&](std::string_view token) {
    if (!token.empty()) out.present |= bit, tokens_.push_back(token);
    bit <<= 1U;
  };
  for (const auto token : event_tokens) keep(event.*token);
  for (const auto token : args_tokens) keep(event.args.*token);
}

void RecordedEvents::replay(EventSink& sink) const {
  auto invalid = invalid_.begin();
  auto next_token = tokens_.begin();
  Event event;
  for (std::size_t i = 0; i <= events_.size(); ++i) {
    for (; invalid != invalid_.end() && invalid->before == i; ++invalid)
      sink.invalid(invalid->position, invalid->why, invalid->repair);
    if (i == events_.size()) return;
    const Recorded& recorded = events_[i];
    event.position = recorded.position;
    event.category = recorded.category;
    event.odd = recorded.odd;
    std::uint32_t present = recorded.present;
    const auto take = [&](std::string_view& token) {
      token = (present & 1U) != 0 ? *next_token++ : std::string_view();
      present >>= 1U;
    };
    for (const auto token : event_tokens) take(event.*token);
    for (const auto token : args_tokens) take(event.args.*token);
    sink.event(event);
  }
}

BatchLine::BatchLine(std::size_t threads, BatchSink& sink, std::size_t alone)
    : sink_(sink), threads_max_(std::max<std::size_t>(1, threads)), alone_(alone) {
  // So that giving memory back never needs any.
  spare_events_.reserve(slots_per_thread * threads_max_ + 1);
  for (std::size_t i = 0; i < threads_max_; ++i)
    workers_.emplace_back().memory.reserve(slots_per_thread * threads_max_ + 1);
}

Result<void> BatchLine::run(BatchSource& source) {
  source_ = &source;
  ended_ = false;
  Worker& own = workers_.front();
  std::vector<std::thread> threads;
  for (std::size_t batch = 0; Slot* const slot = take(own); ++batch) {
    if (batch == alone_) start_threads(threads);  // where that is all there is, no thread is worth its start
    parse(*slot);
  }
  for (std::thread& thread : threads) thread.join();
  if (thrown_) std::rethrow_exception(thrown_);
  if (error_) return tl::unexpected(*error_);
  return {};
}

/// A system that gives fewer threads than asked for gives a slower reader, and the same result.
void BatchLine::start_threads(std::vector<std::thread>& threads) {
  try {
    threads.reserve(threads_max_);
    for (auto worker = std::next(workers_.begin()); worker != workers_.end(); ++worker)
      threads.emplace_back([this, &worker = *worker] { work(worker); });
  } catch (const std::exception&) {  // NOLINT: fewer will do
  }
}

void BatchLine::work(Worker& worker) {
  while (Slot* const slot = take(worker)) parse(*slot);
}

/// The next batch, read by the calling thread; waits where enough are on their way. Nothing: there is no more to do.
BatchLine::Slot* BatchLine::take(Worker& worker) {
  const Lock reading(source_mutex_);
  Lock lock(mutex_);
  changed_.wait(lock, [this] { return stopped() || slots_.size() < slots_per_thread * threads_max_; });
  if (stopped()) return nullptr;
  try {
    auto slot = std::make_unique<Slot>();
    slot->worker = &worker;
    if (!spare_events_.empty()) {
      slot->events = std::move(spare_events_.back());
      spare_events_.pop_back();
    }
    TextMemory memory;
    if (!worker.memory.empty()) {
      memory = std::move(worker.memory.back());
      worker.memory.pop_back();
    }
    lock.unlock();
    auto batch = source_->next(std::move(memory));
    lock.lock();
    ended_ = !batch;
    if (ended_) return nullptr;
    slot->text = *std::move(batch);
    return slots_.emplace_back(std::move(slot)).get();
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (!thrown_) thrown_ = std::current_exception();
    return nullptr;
  }
}

/// What is next for the sink goes straight to it. Anything else is kept until that is done.
void BatchLine::parse(Slot& slot) {
  Lock lock(mutex_);
  if (handing_on_ || &slot != slots_.front().get()) {
    lock.unlock();
    record(slot);
    lock.lock();
    slot.parsed = true;
  } else {
    handing_on_ = true;
    hand_on_front(lock, [this](Slot& front) { return straight_on(front); });
    handing_on_ = false;
  }
  hand_on(lock);
}

void BatchLine::record(Slot& slot) {
  EventParser& parser = slot.worker->parser;
  try {
    parser.parse(slot.text.text, slot.text.position, slot.events);
    slot.texts = parser.take_texts();
    slot.counts = parser.take_counts();
  } catch (...) {
    const Lock lock(mutex_);
    if (!thrown_) thrown_ = std::current_exception();
  }
}

Result<void> BatchLine::straight_on(Slot& slot) {
  EventParser& parser = slot.worker->parser;
  parser.parse(slot.text.text, slot.text.position, sink_);
  parser.take_texts();
  return sink_.batch_ends(parser.take_counts(), slot.text.position);
}

Result<void> BatchLine::say(const Slot& slot) {
  slot.events.replay(sink_);
  return sink_.batch_ends(slot.counts, slot.text.position);
}

/// Takes the first slot off the line, and has it said unless something before it was wrong. The caller hands on.
template <typename Say>
void BatchLine::hand_on_front(Lock& lock, Say say) {
  const std::unique_ptr<Slot> slot = std::move(slots_.front());
  slots_.pop_front();
  changed_.notify_all();
  if (error_ || thrown_) return;
  lock.unlock();
  std::exception_ptr thrown;
  Result<void> said;
  try {
    said = say(*slot);
  } catch (...) {
    thrown = std::current_exception();
  }
  lock.lock();
  if (thrown) thrown_ = thrown;
  if (!said) error_ = said.error();
  slot->events.clear();
  spare_events_.push_back(std::move(slot->events));
  slot->worker->memory.push_back(std::move(slot->text.memory));
  changed_.notify_all();
}

/// Gives the sink what is next in the order of the file, if nobody else is about it: whoever is looks again.
void BatchLine::hand_on(Lock& lock) {
  if (handing_on_) return;
  handing_on_ = true;
  while (!slots_.empty() && slots_.front()->parsed) hand_on_front(lock, [this](Slot& slot) { return say(slot); });
  handing_on_ = false;
}

}  // namespace traceweir::ingest
