#include "cli/job_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/core/text.hpp"
#include "cli/patience.hpp"
#include "server/wire/json.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

/// Where an id token comes from: the variable that tells so, and how it is had.
struct Source {
  const char* variable;
  std::string_view shown;
  Result<std::string> (*id_token)(const ConnectionOptions& options, const Variables& variables);
};

/// The text under `key` of a JSON object; empty: none.
std::string text_in(const std::string& body, std::string_view key) {
  const auto json = wire::parse_json(body);
  if (!json || !json->is_object()) return {};
  wire::ObjectReader in(*json);
  return in.maybe_text(key).value_or("");
}

std::string audience_of(const ConnectionOptions& options, const Variables& variables) {
  std::string audience = variables("TRACEWEIR_OIDC_AUDIENCE");
  if (audience.empty()) audience = options.url;
  while (audience.ends_with('/')) audience.pop_back();
  return audience;
}

/// The token that it is asked with must not go over a wire in the clear; tests ask this host.
bool is_safe(const ServiceUrl& url) {
  return url.scheme == ServiceUrl::Scheme::https || url.host == "127.0.0.1" || url.host == "::1";
}

Result<std::string> from_github(const ConnectionOptions& options, const Variables& variables) {
  const std::string address = variables("ACTIONS_ID_TOKEN_REQUEST_URL");
  const std::size_t host = address.find("://");
  const std::size_t path = host == std::string::npos ? host : address.find('/', host + 3);
  const auto url = service_url(address.substr(0, path));
  if (path == std::string::npos || !url || !is_safe(*url))
    return fail(ErrorCode::usage, "ACTIONS_ID_TOKEN_REQUEST_URL: expected an https:// URL");
  TRACEWEIR_TRY(asking, client_at(*url, variables("ACTIONS_ID_TOKEN_REQUEST_TOKEN"), options));
  ClientRequest request;
  const char separator = address.find('?', path) == std::string::npos ? '?' : '&';
  request.path = fmt::format("{}{}audience={}", address.substr(path), separator,
                             wire::percent_encoded(audience_of(options, variables)));
  TRACEWEIR_TRY(answer, send_with_patience(asking, request));
  std::string token = answer.status == 200 ? text_in(answer.body, "value") : "";
  if (token.empty())
    return fail(ErrorCode::unauthorized,
                fmt::format("GitHub gives this job no id token (it answered {}): does it have `permissions: id-token: "
                            "write`?",
                            answer.status));
  return token;
}

Result<std::string> from_variable(const ConnectionOptions&, const Variables& variables) {
  return variables("TRACEWEIR_OIDC_TOKEN");
}

constexpr Source sources[] = {
    {"TRACEWEIR_OIDC_TOKEN", "TRACEWEIR_OIDC_TOKEN, exchanged for a token of minutes", &from_variable},
    {"ACTIONS_ID_TOKEN_REQUEST_URL", "GitHub's id token of the job, exchanged for a token of minutes", &from_github}};

const Source* source_in(const Variables& variables) {
  if (!variables("TRACEWEIR_TOKEN").empty()) return nullptr;
  for (const Source& source : sources)
    if (!variables(source.variable).empty()) return &source;
  return nullptr;
}

}  // namespace

std::string credential_of(const Variables& variables) {
  if (!variables("TRACEWEIR_TOKEN").empty()) return "TRACEWEIR_TOKEN";
  const Source* const source = source_in(variables);
  return source == nullptr ? "" : std::string(source->shown);
}

bool wants_job_token(const Variables& variables) { return source_in(variables) != nullptr; }

Result<Client> with_job_token(const Client& client, const ConnectionOptions& options, const Variables& variables) {
  const Source* const source = source_in(variables);
  if (source == nullptr) return client;
  TRACEWEIR_TRY(id_token, source->id_token(options, variables));
  ClientRequest request;
  request.method = "POST";
  request.path = fmt::format("/api/v1/projects/{}/oidc/token", wire::percent_encoded(options.project));
  TRACEWEIR_TRY(answer, send_with_patience(client.with_token(id_token), request));
  const std::string token = answer.status == 201 ? text_in(answer.body, "token") : "";
  if (!token.empty()) return client.with_token(token);
  Error error = error_of(answer);
  if (const std::string detail = text_in(answer.body, "detail"); !detail.empty())
    error.message = clean_text(detail, 2048);
  error.message = fmt::format("{}: {}", source->variable, error.message);
  return tl::unexpected(std::move(error));
}

}  // namespace traceweir::cli
