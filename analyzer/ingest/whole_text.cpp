#include "analyzer/ingest/whole_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace traceweir::ingest {

Result<std::string> whole_text(TraceInput& input, std::size_t bytes_max) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  TRACEWEIR_TRY(text, input.text(bytes_max + 1));
  if (text.size() > bytes_max)
    return fail(ErrorCode::trace_too_large,
                fmt::format("more than {} bytes in a kind of file that is small", bytes_max));
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return std::move(text);
}

}  // namespace traceweir::ingest
