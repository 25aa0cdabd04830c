#include "server/http/request.hpp"

#include <algorithm>
#include <cstddef>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/words.hpp"
#include "server/http/ascii.hpp"

namespace traceweir::http {
namespace {

constexpr Word<Verb> verbs[] = {
    {Verb::get, "GET"},     {Verb::head, "HEAD"},  {Verb::post, "POST"},       {Verb::put, "PUT"},
    {Verb::patch, "PATCH"}, {Verb::del, "DELETE"}, {Verb::options, "OPTIONS"},
};

/// `q=0`, `q=0.000`: the client does not want this one.
bool is_refused(std::string_view parameters) {
  const std::size_t at = parameters.find("q=0");
  return at != std::string_view::npos && parameters.substr(at + 3).find_first_not_of(".0 \t") == std::string_view::npos;
}

}  // namespace

std::string_view word(Verb verb) { return word_of(verbs, verb); }
std::optional<Verb> verb_of(std::string_view word) { return value_of(verbs, word); }

const std::string& Request::param(std::string_view name) const {
  const auto same = [&](const PathParam& param) { return param.name == name; };
  const auto found = std::find_if(params.begin(), params.end(), same);
  TRACEWEIR_ASSERT(found != params.end());
  return found->value;
}

std::optional<std::string> Request::header(std::string_view name) const {
  for (const Header& field : headers)
    if (field.name == name) return field.value;
  return std::nullopt;
}

Result<std::optional<std::string>> Request::bearer_token() const {
  const auto field = header("authorization");
  if (!field) return std::optional<std::string>();
  constexpr std::string_view scheme = "bearer ";
  const std::string token(trimmed(std::string_view(*field).substr(std::min(scheme.size(), field->size()))));
  if (!equal_ignoring_case(std::string_view(*field).substr(0, scheme.size()), scheme) || token.empty())
    return fail(ErrorCode::unauthorized, "the Authorization header is not `Bearer <token>`");
  return std::optional(token);
}

bool Request::accepts(std::string_view media_type) const {
  for (const Header& field : headers) {
    if (field.name != "accept") continue;
    for (const std::string_view item : split(field.value, ',')) {
      const std::size_t end = std::min(item.find(';'), item.size());
      if (equal_ignoring_case(trimmed(item.substr(0, end)), media_type) && !is_refused(item.substr(end))) return true;
    }
  }
  return false;
}

}  // namespace traceweir::http
