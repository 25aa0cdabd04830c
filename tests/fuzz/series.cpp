// Series of numbers in a file: one per line, or a CSV with a column `value`.
#include "cli/series_file.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/core/assert.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto series = cli::parse_series(fuzz::text_of(bytes, size));
  if (!series) return fuzz::check_refusal(series.error()), 0;
  TRACEWEIR_ASSERT(!series->values.empty() && series->values.size() == series->lines.size());
  for (const double value : series->values)
    TRACEWEIR_ASSERT(std::isfinite(value) && std::abs(value) <= cli::series_value_max);
  TRACEWEIR_ASSERT(std::is_sorted(series->lines.begin(), series->lines.end()));
  return 0;
}
