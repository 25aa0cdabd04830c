#include "analyzer/ingest/nsys_strings.hpp"

#include <algorithm>

#include "analyzer/core/assert.hpp"
#include "analyzer/ingest/collectives.hpp"

namespace traceweir::ingest::nsys {
namespace {

// Exporters count ids up from a small number; a plain array of these costs at most 16 MiB.
constexpr std::int64_t small_ids_max = std::int64_t{1} << 22;

}  // namespace

Result<Strings> Strings::read(SqliteFile& file, std::string_view table,
                              std::initializer_list<std::string_view> columns) {
  Strings strings;
  TRACEWEIR_TRY(rows, TableRows::open(file, table, columns));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return strings;
    if (rows[0].type != Cell::Type::integer) continue;
    std::size_t column = 1;
    while (column + 1 < columns.size() && rows[column].text.empty()) ++column;
    if (rows[column].type == Cell::Type::text) strings.add(rows[0].integer, rows[column].text);
  }
}

void Strings::add(std::int64_t id, std::string_view text) {
  TRACEWEIR_ASSERT(spans_.size() < timeline::none);
  const auto index = static_cast<StringIndex>(spans_.size());
  if (id >= 0 && id < small_ids_max) {
    const auto at = static_cast<std::size_t>(id);
    if (at >= small_ids_.size()) small_ids_.resize(std::max(at + 1, small_ids_.size() * 2), timeline::none);
    if (small_ids_[at] != timeline::none) return;  // the first one counts
    small_ids_[at] = static_cast<std::uint32_t>(index);
  } else if (!rest_.try_emplace(id, index).second) {
    return;
  }
  append(text);
}

StringIndex Strings::append(std::string_view text) {
  TRACEWEIR_ASSERT(spans_.size() < timeline::none);
  const auto index = static_cast<StringIndex>(spans_.size());
  spans_.push_back({texts_.size(), text.size()});
  kinds_.emplace_back();
  texts_ += text;
  return index;
}

std::optional<StringIndex> Strings::find_or_keep(const Cell& cell) {
  if (cell.type != Cell::Type::text) return find(cell);
  if (cell.text.empty()) return std::nullopt;
  const auto [kept, is_new] = kept_.try_emplace(std::string(cell.text));
  if (is_new) kept->second = append(cell.text);
  return kept->second;
}

std::string_view Strings::text_of(const Cell& cell) const {
  if (cell.type == Cell::Type::text) return cell.text;
  const std::uint32_t index = index_of(cell);
  return index == timeline::none ? std::string_view() : text(static_cast<StringIndex>(index));
}

std::uint32_t Strings::index_of(const Cell& cell) const {
  if (cell.type != Cell::Type::integer) return timeline::none;
  const auto at = static_cast<std::size_t>(cell.integer);
  if (cell.integer >= 0 && at < small_ids_.size()) return small_ids_[at];
  const auto found = rest_.find(cell.integer);
  return found == rest_.end() ? timeline::none : static_cast<std::uint32_t>(found->second);
}

std::optional<StringIndex> Strings::find(const Cell& cell) const {
  const std::uint32_t index = index_of(cell);
  if (index == timeline::none) return std::nullopt;
  return static_cast<StringIndex>(index);
}

std::string_view Strings::text(StringIndex index) const {
  const Span span = spans_[static_cast<std::size_t>(index)];
  return std::string_view(texts_).substr(span.begin, span.size);
}

std::optional<timeline::Collective> Strings::collective(StringIndex index) {
  Kind& kind = kinds_[static_cast<std::size_t>(index)];
  if (kind.kernel == Kernel::not_asked) {
    const auto collective = collective_of_kernel(text(index));
    kind = {collective ? Kernel::collective : Kernel::no_collective, collective.value_or(timeline::Collective::other)};
  }
  if (kind.kernel == Kernel::no_collective) return std::nullopt;
  return kind.collective;
}

}  // namespace traceweir::ingest::nsys
