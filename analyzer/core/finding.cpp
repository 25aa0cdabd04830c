#include "analyzer/core/finding.hpp"

#include "analyzer/core/words.hpp"

namespace traceweir {
namespace {

constexpr Word<FindingCode> code_words[] = {
    {FindingCode::truncated, "truncated"},
    {FindingCode::lost_events, "lost_events"},
    {FindingCode::zero_timestamps, "zero_timestamps"},
    {FindingCode::stream_overrun, "stream_overrun"},
    {FindingCode::duplicate_events, "duplicate_events"},
    {FindingCode::negative_duration, "negative_duration"},
    {FindingCode::open_range, "open_range"},
    {FindingCode::no_steps, "no_steps"},
    {FindingCode::few_steps, "few_steps"},
    {FindingCode::graph_level_tracing, "graph_level_tracing"},
    {FindingCode::unknown_collectives, "unknown_collectives"},
    {FindingCode::clock_base_missing, "clock_base_missing"},
    {FindingCode::orphan_kernels, "orphan_kernels"},
    {FindingCode::mixed_gpus, "mixed_gpus"},
    {FindingCode::invalid_text, "invalid_text"},
    {FindingCode::small_allreduces, "small_allreduces"},
    {FindingCode::exposed_allreduce, "exposed_allreduce"},
    {FindingCode::sync_in_step, "sync_in_step"},
    {FindingCode::accumulation_sync, "accumulation_sync"},
    {FindingCode::pageable_copies, "pageable_copies"},
    {FindingCode::serial_copies, "serial_copies"},
    {FindingCode::input_bound, "input_bound"},
    {FindingCode::launch_bound, "launch_bound"},
    {FindingCode::many_small_copies, "many_small_copies"},
    {FindingCode::alloc_in_step, "alloc_in_step"},
    {FindingCode::straggler, "straggler"},
    {FindingCode::rank_imbalance, "rank_imbalance"},
    {FindingCode::mixed_backends, "mixed_backends"},
    {FindingCode::low_utilization, "low_utilization"},
    {FindingCode::gap, "gap"},
    {FindingCode::hot_gpu, "hot_gpu"},
};

constexpr Word<Severity> severity_words[] = {
    {Severity::info, "info"}, {Severity::warning, "warning"}, {Severity::data_loss, "data_loss"}};

}  // namespace

std::string_view word(FindingCode code) { return word_of(code_words, code); }
std::optional<FindingCode> finding_code_of(std::string_view text) { return value_of(code_words, text); }
std::string_view word(Severity severity) { return word_of(severity_words, severity); }
std::optional<Severity> severity_of(std::string_view text) { return value_of(severity_words, text); }

}  // namespace traceweir
