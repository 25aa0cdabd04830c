// For: numbers as a person reads them, each with its unit. Not for: JSON, and nothing is parsed back from these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/core/metric.hpp"
#include "analyzer/core/time.hpp"

namespace traceweir::report {

/// `68.0 %`, `61.7 ms`, `12`, `7.8 MiB`, `118.3 GB/s`.
std::string human(double value, Unit unit);
std::string human(const Number& value, Unit unit);
std::string human(Nanos length);

/// A bar of at most `cells` characters for a ratio of 0 to 1 (what is outside is cut), in eighths of a character.
std::string bar(double ratio, std::size_t cells);

/// How many characters a terminal shows for UTF-8 text (wide characters count as one).
std::size_t width_of(std::string_view text);

/// At most `cells` characters: a longer text loses its middle, since kernel names differ at both ends.
std::string shortened(std::string_view text, std::size_t cells);

}  // namespace traceweir::report
