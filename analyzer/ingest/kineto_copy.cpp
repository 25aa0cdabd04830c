#include "analyzer/ingest/kineto_copy.hpp"

namespace traceweir::ingest {
namespace {

using timeline::Direction;
using timeline::HostMemory;

struct CopyWord {
  std::string_view word;
  CopyShape shape;
};
constexpr CopyWord copy_words[] = {
    {"HtoD", {"Memcpy HtoD", Direction::h2d}},  {"DtoH", {"Memcpy DtoH", Direction::d2h}},
    {"DtoD", {"Memcpy DtoD", Direction::d2d}},  {"PtoP", {"Memcpy PtoP", Direction::none, HostMemory::unknown, true}},
    {"HtoH", {"Memcpy HtoH", Direction::none}}, {"HtoA", {"Memcpy HtoA", Direction::h2d}},
    {"AtoH", {"Memcpy AtoH", Direction::d2h}},  {"AtoA", {"Memcpy AtoA", Direction::d2d}},
    {"AtoD", {"Memcpy AtoD", Direction::d2d}},  {"DtoA", {"Memcpy DtoA", Direction::d2d}},
};

HostMemory host_memory_of(std::string_view side) {
  if (side.find("Pageable") != std::string_view::npos) return HostMemory::pageable;
  if (side.find("Pinned") != std::string_view::npos) return HostMemory::pinned;
  return HostMemory::unknown;
}

}  // namespace

CopyShape copy_shape(std::string_view name) {
  for (const CopyWord& row : copy_words) {
    const std::size_t at = name.find(row.word);
    if (at == std::string_view::npos) continue;
    CopyShape shape = row.shape;
    const std::string_view sides = name.substr(at + row.word.size());
    const std::size_t arrow = sides.find("->");
    if (arrow == std::string_view::npos) return shape;
    if (shape.direction == Direction::h2d) shape.host_memory = host_memory_of(sides.substr(0, arrow));
    if (shape.direction == Direction::d2h) shape.host_memory = host_memory_of(sides.substr(arrow));
    return shape;
  }
  return {"Memcpy"};
}

CopyShape memset_shape() { return {"Memset"}; }

}  // namespace traceweir::ingest
