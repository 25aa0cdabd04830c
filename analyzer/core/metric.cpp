#include "analyzer/core/metric.hpp"

#include "analyzer/core/text.hpp"
#include "analyzer/core/words.hpp"

namespace traceweir {
namespace {

/// What people write, in terms of what we measure in.
struct BaseRow {
  std::string_view word;
  BaseUnit base;
};
constexpr double kibi = 1024;
constexpr BaseRow base_rows[] = {
    {"us", {Unit::ns, 1e3, 1}},
    {"\u00b5s", {Unit::ns, 1e3, 1}},
    {"\u03bcs", {Unit::ns, 1e3, 1}},
    {"ms", {Unit::ns, 1e6, 1}},
    {"s", {Unit::ns, 1e9, 1}},
    {"min", {Unit::ns, 60e9, 1}},
    {"h", {Unit::ns, 3600e9, 1}},
    {"%", {Unit::ratio, 1, 100}},
    {"B", {Unit::bytes, 1, 1}},
    {"kB", {Unit::bytes, 1e3, 1}},
    {"KB", {Unit::bytes, 1e3, 1}},
    {"MB", {Unit::bytes, 1e6, 1}},
    {"GB", {Unit::bytes, 1e9, 1}},
    {"TB", {Unit::bytes, 1e12, 1}},
    {"KiB", {Unit::bytes, kibi, 1}},
    {"MiB", {Unit::bytes, kibi* kibi, 1}},
    {"GiB", {Unit::bytes, kibi* kibi* kibi, 1}},
    {"TiB", {Unit::bytes, kibi* kibi* kibi* kibi, 1}},
    {"MB/s", {Unit::gb_per_s, 1, 1e3}},
};

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

std::string_view word(const Unit& unit) { return unit.word(); }

std::optional<Unit> unit_of(std::string_view text) {
  constexpr std::string_view separators = " ,;\"'`|<>\\=";  // of words, CSV, Markdown, HTML, comparable keys
  if (text.empty() || text.size() > Unit::bytes_max || clean_text(text) != text) return std::nullopt;
  if (text.find_first_of(separators) != std::string_view::npos) return std::nullopt;
  return Unit(text);
}

BaseUnit base_of(const Unit& unit) {
  for (const BaseRow& row : base_rows)
    if (row.word == unit.word()) return row.base;
  return {unit, 1, 1};
}

bool is_custom(std::string_view id) { return id.size() > custom_prefix.size() && id.starts_with(custom_prefix); }

std::string_view word(Better better) { return word_of(better_words, better); }
std::optional<Better> better_of(std::string_view text) { return value_of(better_words, text); }
std::string_view word(NotMeasured reason) { return word_of(reason_words, reason); }
std::optional<NotMeasured> not_measured_of(std::string_view text) { return value_of(reason_words, text); }

double as_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

}  // namespace traceweir
