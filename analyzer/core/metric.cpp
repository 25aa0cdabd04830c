#include "analyzer/core/metric.hpp"

#include "analyzer/core/words.hpp"

namespace traceweir {
namespace {

constexpr Word<Unit> unit_words[] = {
    {Unit::ratio, "ratio"}, {Unit::ns, "ns"}, {Unit::count, "count"}, {Unit::bytes, "bytes"}, {Unit::gb_per_s, "GB/s"}};

constexpr Word<Better> better_words[] = {{Better::none, "none"}, {Better::lower, "lower"}, {Better::higher, "higher"}};

constexpr Word<NotMeasured> reason_words[] = {
    {NotMeasured::no_gpu_work, "no_gpu_work"},
    {NotMeasured::no_steps, "no_steps"},
    {NotMeasured::few_steps, "few_steps"},
    {NotMeasured::no_comm, "no_comm"},
    {NotMeasured::no_copies, "no_copies"},
    {NotMeasured::no_sizes, "no_sizes"},
    {NotMeasured::unknown_memory_kind, "unknown_memory_kind"},
    {NotMeasured::graph_opaque, "graph_opaque"},
    {NotMeasured::no_host_calls, "no_host_calls"},
    {NotMeasured::single_rank, "single_rank"},
    {NotMeasured::ranks_apart, "ranks_apart"},
    {NotMeasured::no_such_table, "no_such_table"},
    {NotMeasured::untrusted_data, "untrusted_data"},
};

}  // namespace

std::string_view word(Unit unit) { return word_of(unit_words, unit); }
std::optional<Unit> unit_of(std::string_view text) { return value_of(unit_words, text); }
std::string_view word(Better better) { return word_of(better_words, better); }
std::optional<Better> better_of(std::string_view text) { return value_of(better_words, text); }
std::string_view word(NotMeasured reason) { return word_of(reason_words, reason); }
std::optional<NotMeasured> not_measured_of(std::string_view text) { return value_of(reason_words, text); }

double as_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

}  // namespace traceweir
