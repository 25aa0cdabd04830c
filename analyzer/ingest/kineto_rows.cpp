#include "analyzer/ingest/kineto_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/ingest/collectives.hpp"
#include "analyzer/ingest/kineto_copy.hpp"
#include "analyzer/ingest/kineto_message.hpp"
#include "analyzer/ingest/kineto_number.hpp"
#include "analyzer/ingest/kineto_text.hpp"

namespace traceweir::ingest {
namespace {

using timeline::Collective;
using timeline::WorkKind;
using timeline::WorkSource;

constexpr std::string_view nccl_range = "nccl:", gloo_range = "gloo:";

bool is_absent(std::string_view token) { return token.empty() || token == "null"; }

std::string_view unquoted(std::string_view token) {
  return token.size() > 1 && token.front() == '"' ? token.substr(1, token.size() - 2) : token;
}

/// A device or a stream: a number, or text that ends in one ("stream 7").
std::optional<std::int64_t> trailing_number(std::string_view token) {
  const std::string_view text = unquoted(token);
  const std::size_t blank = text.rfind(' ');
  return integer_of(blank == std::string_view::npos ? text : text.substr(blank + 1));
}

/// Groups of different ranks may bear one name ("tp"), so that only name and ranks together say which group it is. The
/// list of ranks is compared as it stands but for blanks: Kineto cuts long ones off ("[0, 1, ...]").
std::string group_identity(const EventArgs& args) {
  std::string scratch;
  std::string out;
  if (!is_absent(args.group)) out = string_text(args.group, scratch).text;
  if (is_absent(args.group_ranks)) return out;
  std::string ranks(unquoted(args.group_ranks));
  std::erase_if(ranks, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
  return ranks.empty() || ranks == "[]" ? out : out + " " + ranks;
}

/// The annotation that begins last before a kernel and encloses it is the innermost. Hostile files may pile them up.
constexpr int annotations_looked_at_max = 256;

}  // namespace

void KinetoRows::event(const Event& event) {
  if (event.odd) invalid(event.position, "a value that is no JSON", Repair::used);
  switch (event.category) {
    case Category::unneeded:
      return;
    case Category::kernel:
      return kernel(event);
    case Category::memcpy:
    case Category::memset:
      return copy(event);
    case Category::call:
      return call(event);
    case Category::user_annotation:
      return range(event, timeline::RangeKind::user);
    case Category::operator_2021:
      return range(event, timeline::RangeKind::step_only);
    case Category::gpu_annotation:
      return annotation(event);
    case Category::cpu_op:
      return cpu_op(event);
  }
}

void KinetoRows::invalid(std::uint64_t position, std::string_view why, Repair repair) {
  const std::string_view outcome = repair == Repair::used ? "" : " (row left out)";
  const std::string example = fmt::format("byte {}: {}{}", position, why, outcome);
  if (repair == Repair::dropped_work) return builder_.drop_work(example);
  builder_.note(FindingCode::invalid_text, example);
}

void KinetoRows::drop(const Event& event, std::string_view field, std::string_view token) {
  const std::string why =
      token.empty() ? fmt::format("no \"{}\"", field) : fmt::format("\"{}\" is {}", field, token.substr(0, 40));
  invalid(event.position, why, is_work(event.category) ? Repair::dropped_work : Repair::dropped);
}

void KinetoRows::kernel(const Event& event) {
  auto row = work_row(event);
  if (!row) return;
  const std::string_view name = name_of(event);
  row->name = builder_.name(name);
  row->source = WorkSource::kernel;
  if (number_or(event.args.graph_node, 0, event.position) != 0) graph_nodes_ = true;
  const std::optional<Collective> named = name_kind(row->name, name).kind;
  const bool described = !is_absent(event.args.collective);
  if (!named && !described) {
    row->kind = WorkKind::compute;
    return builder_.add(*row);
  }
  row->kind = WorkKind::comm;
  const auto stated = described ? collective_of_word(unquoted(event.args.collective)) : std::nullopt;
  row->collective = stated ? *stated : named.value_or(Collective::other);
  if (described) row->message = message_of(event, row->collective);
  if (stated || row->collective != Collective::other) return builder_.add(*row);
  unresolved_.push_back({*row, device_of(event).value_or(0), number_or(event.args.external_id, 0, event.position)});
}

void KinetoRows::copy(const Event& event) {
  auto row = work_row(event);
  if (!row) return;
  const CopyShape shape = event.category == Category::memset ? memset_shape() : copy_shape(name_of(event));
  row->name = builder_.name(shape.name);
  row->source = event.category == Category::memset ? WorkSource::memset : WorkSource::memcpy;
  row->kind = shape.peer ? WorkKind::comm : WorkKind::memory;
  row->direction = shape.direction;
  row->host_memory = shape.host_memory;
  row->bytes = std::max<std::int64_t>(0, number_or(event.args.bytes, 0, event.position));
  builder_.add(*row);
}

void KinetoRows::call(const Event& event) {
  builder_.has_host_calls = true;
  const auto span = span_of(event);
  if (!span) return;
  builder_.add(timeline::CallRow{
      .span = *span, .thread = thread_of(event), .correlation = correlation_of(event), .name = name_of(event)});
}

void KinetoRows::range(const Event& event, timeline::RangeKind kind) {
  const auto span = span_of(event);
  if (!span) return;
  const std::string_view name = name_of(event);
  // Torch's own ranges around its collectives are no phases of the user's; nsys keeps NCCL's apart as well.
  const bool library = name.starts_with(nccl_range) || name.starts_with(gloo_range);
  builder_.add(timeline::RangeRow{.span = *span,
                                  .thread = thread_of(event),
                                  .name = builder_.range_name(name),
                                  .kind = library ? timeline::RangeKind::step_only : kind});
}

void KinetoRows::cpu_op(const Event& event) {
  if (unquoted(event.name) != "record_param_comms") return range(event, timeline::RangeKind::user);
  const std::int64_t id = number_or(event.args.external_id, 0, event.position);
  const auto kind = collective_of_word(unquoted(event.args.collective));
  if (id > 0 && kind) params_.emplace(id, *kind);
}

void KinetoRows::annotation(const Event& event) {
  const std::string_view name = name_of(event);
  if (!name.starts_with(nccl_range)) return;
  const auto kind = collective_of_word(name.substr(nccl_range.size()));
  const auto device = device_of(event);
  const auto span = span_of(event);
  if (kind && device && span) annotations_.push_back({*device, stream_of(event), *span, *kind});
}

/// What all rows of GPU work have in common. Nothing: a field that every metric needs is missing or no number.
std::optional<timeline::WorkRow> KinetoRows::work_row(const Event& event) {
  const auto span = span_of(event);
  if (!span) return std::nullopt;
  const auto device = device_of(event);
  if (!device) return drop(event, "device", event.args.device), std::nullopt;
  timeline::WorkRow row;
  row.span = *span;
  row.correlation = correlation_of(event);
  row.device = builder_.device(*device);
  row.stream = stream_of(event);
  devices_.emplace(*device, row.device);
  return row;
}

std::optional<Interval> KinetoRows::span_of(const Event& event) {
  const auto begin = nanos_of_microseconds(unquoted(event.ts));
  if (!begin) return drop(event, "ts", event.ts), std::nullopt;
  const auto length = nanos_of_microseconds(unquoted(event.dur));
  std::int64_t end = 0;
  const bool fits = length && !__builtin_add_overflow(begin->count(), length->count(), &end);
  if (!fits) return drop(event, "dur", event.dur), std::nullopt;
  readable_ = true;
  if (!fractional_ && begin->count() % 1000 != 0) fractional_ = true;
  return Interval{*begin, Nanos{end}};
}

/// 0: none is known. A value that is no number costs the launching call, never the row: without it the GPU would seem
/// idle while it worked.
std::int64_t KinetoRows::correlation_of(const Event& event) {
  return number_or(event.args.correlation, 0, event.position);
}

std::optional<std::int64_t> KinetoRows::device_of(const Event& event) {
  if (const auto stated = trailing_number(event.args.device); stated) return stated;
  return trailing_number(event.pid);
}

std::int64_t KinetoRows::stream_of(const Event& event) {
  if (const auto stated = trailing_number(event.args.stream); stated) return *stated;
  return trailing_number(event.tid).value_or(0);
}

/// A number that no time depends on: text is taken for a number, anything else counted and replaced.
std::int64_t KinetoRows::number_or(std::string_view token, std::int64_t otherwise, std::uint64_t position) {
  if (is_absent(token)) return otherwise;
  const auto number = integer_of(unquoted(token));
  if (!number) invalid(position, fmt::format("{} is no number", token.substr(0, 40)), Repair::used);
  return number.value_or(otherwise);
}

/// Shape: valid until the next call.
std::string_view KinetoRows::name_of(const Event& event) {
  if (!event.name.starts_with('"')) return {};
  const StringText name = string_text(event.name, scratch_);
  if (!name.valid) invalid(event.position, "an escape in a name that is none", Repair::used);
  return name.text;
}

std::int64_t KinetoRows::thread_of(const Event& event) {
  const std::string_view pid = unquoted(event.pid);
  const std::string_view tid = unquoted(event.tid);
  const std::string& last = last_thread_text_;
  const bool same = last.size() == pid.size() + 1 + tid.size() && last.starts_with(pid) && last.ends_with(tid) &&
                    last[pid.size()] == ' ';
  if (same) return last_thread_;
  last_thread_text_ = fmt::format("{} {}", pid, tid);
  const auto next = static_cast<std::int64_t>(threads_.size());
  last_thread_ = threads_.try_emplace(last_thread_text_, next).first->second;
  return last_thread_;
}

const KinetoRows::NameKind& KinetoRows::name_kind(timeline::NameId id, std::string_view name) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= name_kinds_.size()) name_kinds_.resize(index + 1);
  NameKind& entry = name_kinds_[index];
  if (!entry.known) entry = {true, collective_of_kernel(name)};
  return entry;
}

std::uint32_t KinetoRows::message_of(const Event& event, Collective kind) {
  const EventArgs& args = event.args;
  MessageFacts facts;
  facts.in_elements = number_or(args.in_elements, 0, event.position);
  facts.out_elements = number_or(args.out_elements, 0, event.position);
  facts.dtype = unquoted(args.dtype);
  timeline::Message message;
  message.bytes = message_bytes(kind, facts);
  message.group_size = std::max<std::int64_t>(0, number_or(args.group_size, 0, event.position));
  message.dtype = is_absent(args.dtype) ? std::string() : std::string(facts.dtype);
  message.group = group_identity(args);
  if (!is_absent(args.sequence)) message.sequence = integer_of(unquoted(args.sequence));
  return builder_.message(message);
}

/// Gives the kernels that were put aside the kind that stands elsewhere in the file.
void KinetoRows::resolve() {
  std::sort(annotations_.begin(), annotations_.end(), [](const Annotation& a, const Annotation& b) {
    return std::tie(a.device, a.stream, a.span.begin) < std::tie(b.device, b.stream, b.span.begin);
  });
  for (Unresolved& kernel : unresolved_) {
    kernel.row.collective = annotated_kind(kernel);
    builder_.add(kernel.row);
  }
}

Collective KinetoRows::annotated_kind(const Unresolved& kernel) const {
  const auto key = std::tuple(kernel.device, kernel.row.stream, kernel.row.span.begin);
  const auto after = std::upper_bound(annotations_.begin(), annotations_.end(), key, [](const auto& k, const auto& a) {
    return k < std::tuple(a.device, a.stream, a.span.begin);
  });
  auto at = after;
  for (int looked = 0; at != annotations_.begin() && looked < annotations_looked_at_max; ++looked) {
    const Annotation& annotation = *--at;
    if (annotation.device != kernel.device || annotation.stream != kernel.row.stream) break;
    if (annotation.span.end >= kernel.row.span.end) return annotation.kind;
  }
  const auto stated = params_.find(kernel.external_id);
  return stated == params_.end() ? Collective::other : stated->second;
}

void KinetoRows::describe(const KinetoHeader& header) {
  builder_.source.producer = header.producer();
  builder_.environment = header.environment();
  builder_.rank = header.rank();
  builder_.world_size = header.world_size();
  builder_.step_naming = timeline::StepNaming::profiler_step;
  for (const auto& [ordinal, device] : devices_) builder_.set_gpu(device, header.gpu(ordinal));
  if (fractional_ && !header.has_clock_base())
    note(FindingCode::clock_base_missing, "times below the microsecond without \"baseTimeNanoseconds\"");
}

timeline::Timeline KinetoRows::finish(const KinetoHeader& header) && {
  resolve();
  describe(header);
  if (graph_nodes_) builder_.graph_mode = timeline::GraphMode::node;
  timeline::Timeline out = std::move(builder_).finish();
  // Kineto records what ran inside a graph; all of it carries the correlation of the one call that launched the graph.
  const auto launches_graph = [&](const timeline::Work& work) {
    return work.call != timeline::none && out.name(out.calls[work.call].name).find("GraphLaunch") != std::string::npos;
  };
  if (std::any_of(out.work.begin(), out.work.end(), launches_graph)) out.graph_mode = timeline::GraphMode::node;
  return out;
}

}  // namespace traceweir::ingest
