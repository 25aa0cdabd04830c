#include "analyzer/report/report_words.hpp"

#include "analyzer/core/words.hpp"

namespace traceweir::report {
namespace {

using timeline::WorkKind;

constexpr Word<WorkKind> kind_words[] = {
    {WorkKind::compute, "compute"}, {WorkKind::comm, "comm"}, {WorkKind::memory, "memory"}, {WorkKind::graph, "graph"}};

}  // namespace

std::string_view word(timeline::WorkKind kind) { return word_of(kind_words, kind); }
std::optional<timeline::WorkKind> work_kind_of(std::string_view text) { return value_of(kind_words, text); }

}  // namespace traceweir::report
