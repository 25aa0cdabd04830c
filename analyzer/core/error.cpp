#include "analyzer/core/error.hpp"

#include <array>

#include "analyzer/core/assert.hpp"

namespace traceweir {
namespace {

struct Row {
  ErrorCode code;
  std::string_view word;
};

constexpr std::array rows = {
    Row{ErrorCode::usage, "usage"},
    Row{ErrorCode::bad_config, "bad_config"},
    Row{ErrorCode::bad_query, "bad_query"},
    Row{ErrorCode::bad_body, "bad_body"},
    Row{ErrorCode::bad_policy, "bad_policy"},
    Row{ErrorCode::empty_upload, "empty_upload"},
    Row{ErrorCode::unknown_format, "unknown_format"},
    Row{ErrorCode::not_a_trace, "not_a_trace"},
    Row{ErrorCode::unsupported_format, "unsupported_format"},
    Row{ErrorCode::malformed_trace, "malformed_trace"},
    Row{ErrorCode::trace_too_large, "trace_too_large"},
    Row{ErrorCode::upload_too_large, "upload_too_large"},
    Row{ErrorCode::hash_mismatch, "hash_mismatch"},
    Row{ErrorCode::length_required, "length_required"},
    Row{ErrorCode::unsupported_encoding, "unsupported_encoding"},
    Row{ErrorCode::bad_request, "bad_request"},
    Row{ErrorCode::unauthorized, "unauthorized"},
    Row{ErrorCode::forbidden, "forbidden"},
    Row{ErrorCode::not_found, "not_found"},
    Row{ErrorCode::method_not_allowed, "method_not_allowed"},
    Row{ErrorCode::key_reused, "key_reused"},
    Row{ErrorCode::conflict, "conflict"},
    Row{ErrorCode::queue_full, "queue_full"},
    Row{ErrorCode::store_unavailable, "store_unavailable"},
    Row{ErrorCode::disk_full, "disk_full"},
    Row{ErrorCode::request_timeout, "request_timeout"},
    Row{ErrorCode::analysis_timeout, "analysis_timeout"},
    Row{ErrorCode::analysis_failed, "analysis_failed"},
    Row{ErrorCode::analysis_interrupted, "analysis_interrupted"},
    Row{ErrorCode::unreachable, "unreachable"},
    Row{ErrorCode::io_failed, "io_failed"},
    Row{ErrorCode::quota_exceeded, "quota_exceeded"},
    Row{ErrorCode::too_many_uploads, "too_many_uploads"},
    Row{ErrorCode::trace_removed, "trace_removed"},
    Row{ErrorCode::internal, "internal"},
};

/// Row i describes enumerator i, so that the look-up is an index and a missing row does not compile.
constexpr bool in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (static_cast<std::size_t>(rows[i].code) != i) return false;
  return rows.back().code == ErrorCode::internal;
}
static_assert(in_order());

}  // namespace

std::string_view word(ErrorCode code) {
  const auto index = static_cast<std::size_t>(code);
  TRACEWEIR_ASSERT(index < rows.size());
  return rows[index].word;
}

std::optional<ErrorCode> error_code_of(std::string_view text) {
  for (const Row& row : rows)
    if (row.word == text) return row.code;
  return std::nullopt;
}

tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace traceweir
