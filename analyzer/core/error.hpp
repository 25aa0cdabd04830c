// For: expected failures as values. One word per failure, the same in C++, in the API's problem+json, in the CLI and in
// the docs. Not for: what a trace lacks (finding.hpp) or our own bugs (assert.hpp). Knows nothing of HTTP or exit
// codes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace traceweir {

/// Why an operation failed. The spelling of an enumerator is its word everywhere.
enum class ErrorCode {
  // the caller's input
  usage,                 // a command line that we do not understand
  bad_config,            // a configuration key, value or file
  bad_query,             // a query parameter
  bad_body,              // a request body that is no trace, report or document of the kind that was expected
  bad_policy,            // a policy file
  empty_upload,          // no bytes at all
  unknown_format,        // bytes of no format that we read
  not_a_trace,           // a known container (JSON, SQLite) without a trace in it
  unsupported_format,    // a format that we recognise and refuse, with what to do instead
  malformed_trace,       // a trace that breaks its own format
  trace_too_large,       // more bytes after decompression than the limit
  upload_too_large,      // more bytes in the upload than the limit
  hash_mismatch,         // the bytes are not those whose hash was sent
  length_required,       // a body without a length
  unsupported_encoding,  // a Content-Encoding or Transfer-Encoding that we do not read
  bad_request,           // HTTP that we refuse to interpret
  unauthorized,          // no token, or one that is not valid
  forbidden,             // a valid token without the scope or project
  not_found,
  method_not_allowed,
  key_reused,  // an idempotency key seen before with another body
  conflict,    // the state of the thing forbids the change
  // the world
  queue_full,
  store_unavailable,
  disk_full,
  request_timeout,       // the client was too slow
  analysis_timeout,      // the analysis took longer than its limit
  analysis_failed,       // the analysing process died
  analysis_interrupted,  // the analysing process was ended from outside; another try may do better
  unreachable,           // the service cannot be reached
  io_failed,             // a file of ours cannot be read or written
  // what an administrator has set
  quota_exceeded,    // the project may not keep more bytes
  too_many_uploads,  // the project may not send more uploads now
  trace_removed,     // a trace that retention took
  internal,          // our own bug, seen at the last resort
};

/// Shape: `unknown_format` for ErrorCode::unknown_format; never empty.
std::string_view word(ErrorCode code);

/// The code of a word; nothing when there is no such word.
std::optional<ErrorCode> error_code_of(std::string_view word);

/// An expected failure: caused by the input or the world, never by our own bug.
struct Error {
  ErrorCode code;
  std::string message;  ///< for a person; names the field, row or byte that is wrong
};

/// A value or an Error. Dropping one does not compile (nodiscard, and warnings are errors).
template <typename T>
struct [[nodiscard]] Result : tl::expected<T, Error> {
  using tl::expected<T, Error>::expected;
};

/// Makes a failure that converts to any Result: `return fail(ErrorCode::bad_query, "limit: not a number")`.
tl::unexpected<Error> fail(ErrorCode code, std::string message);

}  // namespace traceweir

/// Binds `name` to the value of `expr`, or returns its Error from this function.
#define TRACEWEIR_TRY(name, expr)                                              \
  auto name##_result = (expr);                                                 \
  if (!name##_result) return tl::unexpected(std::move(name##_result).error()); \
  auto& name = *name##_result

/// Returns the Error of `expr` (a Result<void>) from this function, if it has one.
#define TRACEWEIR_TRY_VOID(expr) \
  if (auto try_result = (expr); !try_result) return tl::unexpected(std::move(try_result).error())
