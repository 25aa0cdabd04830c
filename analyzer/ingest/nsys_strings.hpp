// For: a table of names of an export (StringIds; those of rocpd), read once and asked once per row.
// Not for: cleaning names; TimelineBuilder does that.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/nsys_schema.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest::nsys {

/// Index of a string. Shape: below Strings::size().
enum class StringIndex : std::uint32_t {};

class Strings {
 public:
  /// The texts of `table` by the id in the first of `columns`; of the others the first that is no empty text counts.
  /// Errors: malformed_trace, io_failed.
  static Result<Strings> read(SqliteFile& file, std::string_view table = strings_table,
                              std::initializer_list<std::string_view> columns = {"id", "value"});

  /// The string with the id of `cell`; nothing where it is no integer or no id of a string.
  [[nodiscard]] std::optional<StringIndex> find(const Cell& cell) const;
  /// The same; a text, as converters put in place of the id, is itself the string and is kept.
  std::optional<StringIndex> find_or_keep(const Cell& cell);
  /// The text that `cell` is or whose id it is; empty where it is neither. Valid as long as both.
  [[nodiscard]] std::string_view text_of(const Cell& cell) const;
  [[nodiscard]] std::string_view text(StringIndex index) const;
  [[nodiscard]] std::size_t size() const { return spans_.size(); }

  /// What the kernel of this name communicates. Cost: the table of collectives is asked once per name.
  std::optional<timeline::Collective> collective(StringIndex index);

 private:
  struct Span {
    std::size_t begin;
    std::size_t size;
  };
  /// What is known of the kernel of a name.
  enum class Kernel : std::uint8_t { not_asked, no_collective, collective };
  struct Kind {
    Kernel kernel = Kernel::not_asked;
    timeline::Collective collective = timeline::Collective::other;
  };
  /// The StringIndex of an id as a plain number, or `timeline::none`: an optional that is put together in memory and
  /// read as a whole costs more than the look-up.
  [[nodiscard]] std::uint32_t index_of(const Cell& cell) const;
  void add(std::int64_t id, std::string_view text);
  StringIndex append(std::string_view text);

  std::string texts_;                                   ///< all of them, one after the other
  std::vector<Span> spans_;                             ///< by StringIndex
  std::vector<Kind> kinds_;                             ///< by StringIndex
  std::vector<std::uint32_t> small_ids_;                ///< id → StringIndex, `timeline::none`: no such id
  std::unordered_map<std::int64_t, StringIndex> rest_;  ///< ids that no exporter gives
  std::unordered_map<std::string, StringIndex> kept_;   ///< texts without an id
};

}  // namespace traceweir::ingest::nsys
