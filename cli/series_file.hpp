// For: a series of numbers in a file, for commands that need no service: one number per line, or a CSV with a column
// `value` (as `traceweir history --csv` prints it). Not for: traces (reading.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::cli {

/// Oldest first, as in the file.
struct Series {
  std::vector<double> values;
  std::vector<std::int64_t> lines;  ///< where each value stands
};

/// A longer file or series is refused.
inline constexpr std::size_t series_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t series_values_max = 100'000;
/// Squares of larger numbers are no numbers.
inline constexpr double series_value_max = 1e150;

/// Reads the text of a series. Empty lines and lines that begin with # are left out.
/// Shape:  fields as in RFC 4180: quoted where they hold commas, quotes or line ends; blanks around them do not count.
/// Errors: bad_body, with the line: no number, not finite, too large, a row without the column, an open quote, no
///         value at all, more than series_values_max.
Result<Series> parse_series(std::string_view text);

/// The same of a file; `-` is stdin. Errors: io_failed, and those of parse_series, with the file's name.
Result<Series> read_series(const std::string& file);

}  // namespace traceweir::cli
