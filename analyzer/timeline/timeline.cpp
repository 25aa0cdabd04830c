#include "analyzer/timeline/timeline.hpp"

#include "analyzer/core/words.hpp"

namespace traceweir::timeline {
namespace {

constexpr Word<Collective> collective_words[] = {
    {Collective::allreduce, "allreduce"},
    {Collective::allgather, "allgather"},
    {Collective::reducescatter, "reducescatter"},
    {Collective::broadcast, "broadcast"},
    {Collective::reduce, "reduce"},
    {Collective::alltoall, "alltoall"},
    {Collective::sendrecv, "sendrecv"},
    {Collective::other, "other"},
};

constexpr Word<Direction> direction_words[] = {
    {Direction::none, "none"},
    {Direction::h2d, "h2d"},
    {Direction::d2h, "d2h"},
    {Direction::d2d, "d2d"},
};

constexpr Word<GraphMode> graph_mode_words[] = {
    {GraphMode::none, "none"},
    {GraphMode::graph, "graph"},
    {GraphMode::node, "node"},
    {GraphMode::mixed, "mixed"},
};

}  // namespace

std::string Timeline::name(RangeName range) const {
  const std::string& form = name(range.form);
  if (range.numbers == RangeName::no_numbers) return form;
  std::string out;
  std::size_t at = range.numbers;
  for (const char c : form) {
    if (c != '0') {
      out += c;
      continue;
    }
    const std::size_t end = numbers.find(',', at);
    out.append(numbers, at, end - at);
    at = end + 1;
  }
  return out;
}

std::string_view word(Collective kind) { return word_of(collective_words, kind); }
std::optional<Collective> collective_of(std::string_view text) { return value_of(collective_words, text); }
std::string_view word(Direction direction) { return word_of(direction_words, direction); }
std::string_view word(GraphMode mode) { return word_of(graph_mode_words, mode); }
std::optional<GraphMode> graph_mode_of(std::string_view text) { return value_of(graph_mode_words, text); }

}  // namespace traceweir::timeline
