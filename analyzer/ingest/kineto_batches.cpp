#include "analyzer/ingest/kineto_batches.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace traceweir::ingest {
namespace {

/// Batches on their way, per thread. Fewer let threads wait for each other; these are 2 MiB.
constexpr std::size_t slots_per_thread = 8;

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

BatchLine::BatchLine(std::size_t threads, BatchSink& sink)
    : sink_(sink), threads_max_(std::max<std::size_t>(1, threads)) {
  parsers_.emplace_back();
}

BatchLine::~BatchLine() {
  {
    const Lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// A system that gives fewer threads than asked for gives a slower reader, and the same result. Without any, the thread
/// that calls put() does everything.
void BatchLine::start_threads() {
  try {
    while (threads_.size() + 1 < threads_max_) {
      EventParser& parser = parsers_.emplace_back();
      threads_.emplace_back([this, &parser] { work(parser); });
    }
  } catch (const std::system_error&) {
    threads_max_ = threads_.size() + 1;
  }
}

void BatchLine::work(EventParser& parser) {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closed_ || next_waiting() != nullptr; });
    Slot* const slot = next_waiting();
    if (slot == nullptr) return;
    parse(*slot, parser, lock);
  }
}

Result<TextMemory> BatchLine::put(TextBatch batch) {
  // Where one batch is all there is, no thread is worth its start.
  if (++batches_ == 2) start_threads();
  if (threads_.empty()) {
    TRACEWEIR_TRY_VOID(straight_on(batch, parsers_.front()));
    return std::move(batch.memory);
  }
  auto slot = std::make_unique<Slot>();
  slot->text = std::move(batch);
  Lock lock(mutex_);
  while (slots_.size() >= slots_per_thread * threads_max_) help(lock);
  TRACEWEIR_TRY_VOID(outcome());
  if (!spare_events_.empty()) {
    slot->events = std::move(spare_events_.back());
    spare_events_.pop_back();
  }
  slots_.push_back(std::move(slot));
  changed_.notify_all();
  TextMemory memory;
  if (!spare_texts_.empty()) {
    memory = std::move(spare_texts_.back());
    spare_texts_.pop_back();
  }
  return memory;
}

Result<void> BatchLine::straight_on(TextBatch& batch, EventParser& parser) {
  parser.parse(batch.text, batch.position, sink_);
  parser.take_texts();
  return sink_.batch_ends(parser.take_counts(), batch.position);
}

Result<void> BatchLine::drain() {
  Lock lock(mutex_);
  while (!slots_.empty() || handing_on_) help(lock);
  return outcome();
}

Result<void> BatchLine::outcome() const {
  if (thrown_) std::rethrow_exception(thrown_);
  if (error_) return tl::unexpected(*error_);
  return {};
}

BatchLine::Slot* BatchLine::next_waiting() {
  for (const auto& slot : slots_)
    if (slot->state == State::waiting) return slot.get();
  return nullptr;
}

/// Parses a batch that waits; where none does, waits for a change.
void BatchLine::help(Lock& lock) {
  if (Slot* const slot = next_waiting())
    parse(*slot, parsers_.front(), lock);
  else
    changed_.wait(lock);
}

/// What is next for the sink goes straight to it. Anything else is kept until that is done.
void BatchLine::parse(Slot& slot, EventParser& parser, Lock& lock) {
  slot.state = State::parsing;
  if (handing_on_ || &slot != slots_.front().get()) return record(slot, parser, lock);
  handing_on_ = true;
  hand_on_front(lock, [&](Slot& front) { return straight_on(front.text, parser); });
  handing_on_ = false;
  hand_on(lock);
}

void BatchLine::record(Slot& slot, EventParser& parser, Lock& lock) {
  lock.unlock();
  std::exception_ptr thrown;
  try {
    parser.parse(slot.text.text, slot.text.position, slot.events);
    slot.texts = parser.take_texts();
    slot.counts = parser.take_counts();
  } catch (...) {
    thrown = std::current_exception();
  }
  lock.lock();
  if (thrown && !thrown_) thrown_ = thrown;
  slot.state = State::parsed;
  hand_on(lock);
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
  if (error_ || thrown_) return;
  changed_.notify_all();
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
  spare_texts_.push_back(std::move(slot->text.memory));
}

/// Gives the sink what is next in the order of the file, if nobody else is about it: whoever is looks again.
void BatchLine::hand_on(Lock& lock) {
  if (handing_on_) return;
  handing_on_ = true;
  while (!slots_.empty() && slots_.front()->state == State::parsed)
    hand_on_front(lock, [this](Slot& slot) { return say(slot); });
  handing_on_ = false;
  changed_.notify_all();
}

}  // namespace traceweir::ingest
