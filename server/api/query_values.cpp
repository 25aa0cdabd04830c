#include "server/api/query_values.hpp"

#include <fmt/format.h>

#include <charconv>

#include "server/wire/timestamp.hpp"

namespace traceweir::api {

Result<std::optional<std::int64_t>> integer_in(const http::Query& query, std::string_view key, std::int64_t least,
                                               std::int64_t most) {
  TRACEWEIR_TRY(text, query.one(key));
  if (!text) return std::optional<std::int64_t>{};
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < least || value > most)
    return fail(ErrorCode::bad_query, least == most
                                          ? fmt::format("{}: expected {}", key, least)
                                          : fmt::format("{}: expected a whole number from {} to {}", key, least, most));
  return std::optional(value);
}

Result<std::optional<store::Timestamp>> time_in(const http::Query& query, std::string_view key) {
  TRACEWEIR_TRY(text, query.one(key));
  if (!text) return std::optional<store::Timestamp>{};
  const auto time = wire::from_rfc3339(*text);
  if (!time) return fail(ErrorCode::bad_query, fmt::format("{}: expected a time such as 2026-11-29T18:00:00Z", key));
  return time;
}

Result<std::optional<gate::Outcome>> outcome_in(const http::Query& query, std::string_view key) {
  TRACEWEIR_TRY(text, query.one(key));
  if (!text) return std::optional<gate::Outcome>{};
  const auto outcome = gate::outcome_of(*text);
  if (!outcome) return fail(ErrorCode::bad_query, fmt::format("{}: expected pass, warn, fail or inconclusive", key));
  return outcome;
}

}  // namespace traceweir::api
