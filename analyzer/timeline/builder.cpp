#include "analyzer/timeline/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "analyzer/timeline/builder_rows.hpp"
#include "analyzer/timeline/home_paths.hpp"

namespace traceweir::timeline {
namespace {

constexpr std::size_t examples_max = 3;

// Correlations count up, of all calls and of all ranks of a file: so many low bits for each that is waited for tell
// most of the others apart.
constexpr std::size_t awaited_bits_each = 8;

// The difference of any two accepted times is a valid Nanos, so nobody downstream checks a subtraction. 146 years.
constexpr Nanos time_max{std::int64_t{1} << 62};
bool in_range(Nanos t) { return -time_max < t && t < time_max; }

// Far more GPUs than a process can open; the last index says "no such device".
constexpr std::size_t devices_max = 4096;
constexpr std::int64_t ordinal_max = 1'000'000'000;
constexpr DeviceIndex no_device{0xFFFF};

std::string out_of_range(Interval span) { return fmt::format("time out of range: {} ns", span.begin.count()); }

}  // namespace

TimelineBuilder::TimelineBuilder() : rows_(std::make_unique<Rows>()) {}
TimelineBuilder::~TimelineBuilder() = default;
TimelineBuilder::TimelineBuilder(TimelineBuilder&&) noexcept = default;
TimelineBuilder& TimelineBuilder::operator=(TimelineBuilder&&) noexcept = default;

NameId TimelineBuilder::name(std::string_view text) { return rows_->name(text); }
RangeName TimelineBuilder::range_name(std::string_view text) { return rows_->range_names.name(text, rows_->names); }

DeviceIndex TimelineBuilder::device(std::int64_t ordinal, std::string_view uuid) {
  if (ordinal < -ordinal_max || ordinal > ordinal_max) return no_device;
  const auto known = rows_->devices_by_ordinal.find(ordinal);
  if (known != rows_->devices_by_ordinal.end()) return known->second;
  auto& devices = rows_->out.devices;
  auto index = static_cast<DeviceIndex>(devices.size());
  if (!uuid.empty()) {
    const auto same = rows_->devices_by_uuid.find(uuid);
    if (same != rows_->devices_by_uuid.end()) index = same->second;
  }
  if (static_cast<std::size_t>(index) == devices.size()) {
    if (devices.size() == devices_max) return no_device;
    devices.push_back({.ordinal = ordinal, .gpu = {}});
    if (!uuid.empty()) rows_->devices_by_uuid.emplace(uuid, index);
  }
  rows_->devices_by_ordinal.emplace(ordinal, index);
  return index;
}

void TimelineBuilder::set_gpu(DeviceIndex device, std::string_view gpu) {
  if (gpu.empty() || device == no_device) return;
  TRACEWEIR_ASSERT(static_cast<std::size_t>(device) < rows_->out.devices.size());
  rows_->out.devices[static_cast<std::size_t>(device)].gpu = clean_text(gpu);
}

std::uint32_t TimelineBuilder::message(const Message& message) {
  Message cleaned = message;
  cleaned.dtype = clean_text(message.dtype);
  cleaned.group = clean_text(message.group);
  const auto next = static_cast<std::uint32_t>(rows_->out.messages.size());
  const auto [entry, added] = rows_->messages.try_emplace(std::move(cleaned), next);
  if (added) rows_->out.messages.push_back(entry->first);
  return entry->second;
}

void TimelineBuilder::add(const WorkRow& row) {
  const bool zero = row.span.begin.count() == 0 && row.span.end.count() == 0;
  if (zero) return rows_->note(FindingCode::zero_timestamps, {}, 1);
  const bool beyond = !in_range(row.span.begin) || !in_range(row.span.end);
  if (beyond && row.span.begin <= row.span.end) return drop_work(out_of_range(row.span));
  if (!rows_->accepts(row.span)) return;
  if (row.device == no_device)
    return drop_work("work of a device that no process has: one too many, or its number out of range");
  TRACEWEIR_ASSERT(static_cast<std::size_t>(row.device) < rows_->out.devices.size());
  TRACEWEIR_ASSERT(static_cast<std::size_t>(row.name) < rows_->names.size());
  TRACEWEIR_ASSERT(row.message == none || row.message < rows_->out.messages.size());
  TRACEWEIR_ASSERT(rows_->work.size() < none);
  TRACEWEIR_ASSERT(row.correlation <= 0 || rows_->may_launch(row.correlation));
  make_room(rows_->work);
  make_room(rows_->correlations);
  rows_->work.push_back({.begin = row.span.begin,
                         .end = row.span.end,
                         .stream = row.stream,
                         .bytes = row.bytes,
                         .name = row.name,
                         .call = none,
                         .message = row.message,
                         .row = static_cast<std::uint32_t>(rows_->work.size()),
                         .device = row.device,
                         .kind = row.kind,
                         .source = row.source,
                         .collective = row.collective,
                         .direction = row.direction,
                         .host_memory = row.host_memory});
  rows_->correlations.push_back(row.correlation);
}

void TimelineBuilder::add(const CallRow& row) {
  if (!rows_->accepts(row.span)) return;
  const CallKind& kind = rows_->call_kind(row.name);
  if (!kind.blocking && !kind.allocates && !rows_->may_launch(row.correlation)) return;
  TRACEWEIR_ASSERT(rows_->calls.size() < none);
  make_room(rows_->calls);
  make_room(rows_->call_correlations);
  rows_->calls.push_back({.begin = row.span.begin,
                          .end = row.span.end,
                          .name = kind.name,
                          .thread = rows_->thread(row.thread),
                          .blocking = kind.blocking,
                          .allocates = kind.allocates});
  rows_->call_correlations.push_back(row.correlation);
}

void TimelineBuilder::add(const RangeRow& row) {
  if (!rows_->accepts(row.span)) return;
  TRACEWEIR_ASSERT(static_cast<std::size_t>(row.name.form) < rows_->names.size());
  make_room(rows_->ranges);
  rows_->ranges.push_back({.begin = row.span.begin,
                           .end = row.span.end,
                           .name = row.name,
                           .thread = rows_->thread(row.thread),
                           .kind = row.kind});
}

std::uint32_t TimelineBuilder::counter(std::string_view name, DeviceIndex device) {
  if (device == no_device) return none;
  const auto next = static_cast<std::uint32_t>(rows_->series.size());
  const auto known = rows_->series_by_name.find({clean_text(name), device});
  if (known != rows_->series_by_name.end()) return known->second;
  if (next == counters_max) return none;
  rows_->series.push_back({.name = clean_text(name), .device = device, .samples = {}});
  rows_->series_by_name.emplace(std::pair(clean_text(name), device), next);
  return next;
}

void TimelineBuilder::add(const SampleRow& row) {
  if (row.counter == none || !in_range(row.at) || !std::isfinite(row.value))
    return rows_->note(FindingCode::invalid_text, "a counter's sample that is no number, or of one too many", 1);
  TRACEWEIR_ASSERT(row.counter < rows_->series.size());
  Series& series = rows_->series[row.counter];
  if (series.seen++ % rows_->stride != 0) return;
  series.samples.push_back({row.at, row.value});
  if (++rows_->sample_count >= samples_max) rows_->thin_series();
}

void TimelineBuilder::expect_calls_of(std::span<const std::int64_t> later_work) {
  std::vector<bool>& awaited = rows_->awaited;
  awaited.assign(std::bit_ceil(awaited_bits_each * (rows_->correlations.size() + later_work.size() + 1)), false);
  const auto expect = [&](std::int64_t correlation) { awaited[rows_->awaited_bit(correlation)] = true; };
  for (const std::int64_t correlation : rows_->correlations) expect(correlation);
  for (const std::int64_t correlation : later_work) expect(correlation);
}

void TimelineBuilder::note(FindingCode code, std::string_view example, std::int64_t count) {
  rows_->note(code, example, count);
}

void TimelineBuilder::drop_work(std::string_view example, std::int64_t count) {
  rows_->note(FindingCode::invalid_text, example, count);
  rows_->out.oddities[FindingCode::invalid_text].work += count;
}

bool TimelineBuilder::has_work() const { return !rows_->work.empty(); }

Timeline TimelineBuilder::finish() && {
  Rows& rows = *rows_;
  rows.sort_work();
  rows.drop_duplicates();
  rows.keep_devices_with_work();
  rows.take_counters();
  // From here on the work is what it will be; what follows refers to it by index.

  rows.sort_calls();
  rows.join_calls();
  rows.sort_ranges();
  rows.out.has_host_calls = has_host_calls;
  rows.count_orphans();

  Timeline out = std::move(rows.out);
  out.names = std::move(rows.names).take();
  out.numbers = std::move(rows.range_names).take_numbers();
  out.work = std::move(rows.work);
  out.ranges = std::move(rows.ranges);
  out.thread_count = static_cast<std::uint32_t>(rows.threads.size());
  out.source = std::move(source);
  out.environment = std::move(environment);
  out.rank = rank;
  out.world_size = world_size;
  out.graph_mode = graph_mode;
  out.step_naming = step_naming;
  out.stated = std::move(stated);
  out.sums = std::move(sums);
  *this = TimelineBuilder{};
  return out;
}

void TimelineBuilder::Rows::note(FindingCode code, std::string_view example, std::int64_t count) {
  Oddity& oddity = out.oddities[code];
  oddity.count += count;
  if (!example.empty() && oddity.examples.size() < examples_max)
    oddity.examples.push_back(clean_text(without_homes(example)));
}

bool TimelineBuilder::Rows::accepts(Interval span) {
  if (span.end < span.begin) {
    note(FindingCode::negative_duration, {}, 1);
    return false;
  }
  if (!in_range(span.begin) || !in_range(span.end)) {
    note(FindingCode::invalid_text, out_of_range(span), 1);
    return false;
  }
  return true;
}

NameId TimelineBuilder::Rows::name(std::string_view text) {
  // What is stored is clean, so that text that is found as it stands needs no cleaning.
  if (const auto known = names.find(text)) return *known;
  if (const auto known = unclean_names.find(text); known != unclean_names.end()) return known->second;
  const std::string cleaned = clean_name(text);
  const bool is_clean = cleaned == text;
  const NameId id = names.add(cleaned);
  if (!is_clean) unclean_names.emplace(text, id);
  return id;
}

ThreadIndex TimelineBuilder::Rows::thread(std::int64_t id) {
  // Rows of one thread come one after the other.
  if (threads.empty() || id != last_thread.first)
    last_thread = {id, threads.try_emplace(id, static_cast<ThreadIndex>(threads.size())).first->second};
  return last_thread.second;
}

const CallKind& TimelineBuilder::Rows::call_kind(std::string_view text) {
  // Calls of one name come one after the other, more often than not.
  if (last_call_kind != nullptr && last_call_kind->first == text) return last_call_kind->second;
  const auto known = call_kinds.find(text);
  if (known != call_kinds.end()) return (last_call_kind = &*known)->second;
  const std::string_view api = api_name(text);
  const CallKind kind{name(api), is_blocking_call(api), is_allocation_call(api)};
  last_call_kind = &*call_kinds.emplace(text, kind).first;
  return last_call_kind->second;
}

}  // namespace traceweir::timeline
