// For: what the events of a Kineto trace mean: rows of GPU work, host calls and ranges for the builder. Not for: JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/ingest/kineto_event.hpp"
#include "analyzer/ingest/kineto_header.hpp"
#include "analyzer/timeline/builder.hpp"

namespace traceweir::ingest {

/// Turns the events of one file (one rank) into a Timeline.
/// Source: spec of metrics, sections 1 and 4; spec of formats, sections 4 and 5.
/// Thread: one at a time.
class KinetoRows final : public EventSink {
 public:
  void event(const Event& event) override;
  void invalid(std::uint64_t position, std::string_view why, Repair repair) override;

  /// Counts something odd about the file as a whole.
  void note(FindingCode code, std::string_view example, std::int64_t count = 1) { builder_.note(code, example, count); }

  /// Whether a row with a time was read.
  [[nodiscard]] bool has_readable() const { return readable_; }

  /// The Timeline of all events. The object is spent afterwards.
  timeline::Timeline finish(const KinetoHeader& header) &&;

 private:
  /// A communication kernel whose name does not tell its kind: what stands elsewhere in the file may.
  struct Unresolved {
    timeline::WorkRow row;
    std::int64_t device;
    std::int64_t external_id;
  };
  /// The copy of a `nccl:` range on a stream of a GPU.
  struct Annotation {
    std::int64_t device;
    std::int64_t stream;
    Interval span;
    timeline::Collective kind;
  };
  /// What the table of names says of an interned kernel name.
  struct NameKind {
    bool known = false;
    std::optional<timeline::Collective> kind;
  };

  void kernel(const Event& event);
  void copy(const Event& event);
  void call(const Event& event);
  void range(const Event& event, timeline::RangeKind kind);
  void cpu_op(const Event& event);
  void annotation(const Event& event);

  std::optional<timeline::WorkRow> work_row(const Event& event);
  std::optional<Interval> span_of(const Event& event);
  std::int64_t correlation_of(const Event& event);
  std::optional<std::int64_t> device_of(const Event& event);
  std::int64_t stream_of(const Event& event);
  std::int64_t number_or(std::string_view token, std::int64_t otherwise, std::uint64_t position);
  std::string_view name_of(const Event& event);
  std::int64_t thread_of(const Event& event);
  const NameKind& name_kind(timeline::NameId id, std::string_view name);
  std::uint32_t message_of(const Event& event, timeline::Collective kind);
  void drop(const Event& event, std::string_view field, std::string_view token);
  void resolve();
  [[nodiscard]] timeline::Collective annotated_kind(const Unresolved& kernel) const;
  void describe(const KinetoHeader& header);

  timeline::TimelineBuilder builder_;
  std::vector<Unresolved> unresolved_;
  std::vector<Annotation> annotations_;
  std::unordered_map<std::int64_t, timeline::Collective> params_;  ///< External id of a record_param_comms → kind
  std::map<std::int64_t, timeline::DeviceIndex> devices_;
  std::unordered_map<std::string, std::int64_t> threads_;
  std::string last_thread_text_;
  std::int64_t last_thread_ = 0;
  std::vector<NameKind> name_kinds_;  ///< by NameId
  std::string scratch_;
  bool readable_ = false;
  bool fractional_ = false;   ///< a `ts` has digits below the microsecond
  bool graph_nodes_ = false;  ///< a kernel says which node of a graph it was
};

}  // namespace traceweir::ingest
