#include <fmt/format.h>

#include "analyzer/core/text.hpp"
#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/token_document.hpp"
#include "server/api/tokens.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::api {
namespace {

constexpr std::size_t note_bytes_max = 256;

bool may_administer(const store::Token& admin, const std::string& project) {
  return admin.project.empty() || admin.project == project;
}

/// Errors: not_found; of another project's token as well.
Result<store::Token> administered(const http::Request& request, const store::Token& admin, Services& services) {
  TRACEWEIR_TRY(token, services.store.token(request.param("token")));
  if (!token || !may_administer(admin, token->project)) return fail(ErrorCode::not_found, "token: no such token");
  return *std::move(token);
}

/// The words of a list; the first mistake is the reader's.
store::Scopes read_scopes(wire::ObjectReader& in) {
  const wire::Json* const list = in.child("scopes");
  std::string words;
  if (list != nullptr && list->is_array())
    for (const wire::Json& item : *list)
      words += (words.empty() ? "" : ",") + (item.is_string() ? item.get<std::string>() : std::string("?"));
  const auto scopes = scopes_of(words);
  if (scopes) return *scopes;
  in.refuse("scopes", "expected a list of upload, read, admin");
  return {};
}

std::optional<store::Timestamp> read_end(wire::ObjectReader& in, store::Timestamp now) {
  const auto text = in.maybe_text("expires_at");
  if (!text) return std::nullopt;
  const auto end = wire::from_rfc3339(*text);
  if (!end || *end <= now) in.refuse("expires_at", "expected a time to come, such as 2027-01-31T00:00:00Z");
  return end;
}

/// Errors: bad_body.
Result<store::Token> token_in(const std::string& body, store::Timestamp now) {
  TRACEWEIR_TRY(json, wire::parse_json(body));
  wire::ObjectReader in(json);
  store::Token token;
  token.project = in.maybe_text("project").value_or("");
  token.scopes = read_scopes(in);
  token.note = clean_text(in.maybe_text("note").value_or(""), note_bytes_max);
  token.created_at = now;
  token.expires_at = read_end(in, now);
  if (token.project.empty() && !token.scopes.admin)
    in.refuse("project", "is needed for a token without the scope admin");
  in.finish();
  if (in.error()) return tl::unexpected(*in.error());
  return token;
}

/// The document with the text in it, which nobody sees again.
http::Response made(const std::string& text, Services& services, const store::Token& description) {
  store::Token token = description;
  token.id = token_of(text).value_or(TokenText{}).id;
  wire::Json json = {{"token", text}};
  json.update(token_document(token, services.now()));
  return http::respond(http::Status::created, json_type, wire::dump(json));
}

/// Errors: bad_body.
Result<std::chrono::seconds> overlap_in(const std::string& body) {
  if (body.empty()) return overlap_default;
  TRACEWEIR_TRY(json, wire::parse_json(body));
  wire::ObjectReader in(json);
  const std::int64_t seconds = in.maybe_integer("overlap_s").value_or(overlap_default.count());
  if (seconds < 0 || seconds > overlap_max.count())
    in.refuse("overlap_s", fmt::format("expected 0 to {} seconds", overlap_max.count()));
  in.finish();
  if (in.error()) return tl::unexpected(*in.error());
  return std::chrono::seconds{seconds};
}

}  // namespace

/// GET /api/v1/tokens
/// 200 {tokens}: all, or with a project's token those of that project
Result<http::Response> get_tokens(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(admin, authorize_token_admin(request, services));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(tokens, services.store.tokens());
  wire::Json list = wire::Json::array();
  for (const store::Token& token : tokens)
    if (may_administer(admin, token.project)) list.push_back(token_document(token, services.now()));
  return http::respond(http::Status::ok, json_type, wire::dump({{"tokens", std::move(list)}}));
}

/// POST /api/v1/tokens   body: {project?, scopes, note?, expires_at?}
/// 201 the token, with its text
Result<http::Response> post_token(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(admin, authorize_token_admin(request, services));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(token, token_in(body, services.now()));
  if (!may_administer(admin, token.project))
    return fail(ErrorCode::forbidden, "this token may make tokens of its own project only");
  TRACEWEIR_TRY(text, issue_token(services.store, token, admin.id));
  return made(text, services, token);
}

/// DELETE /api/v1/tokens/{token}
/// 204
Result<http::Response> delete_token(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(admin, authorize_token_admin(request, services));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(token, administered(request, admin, services));
  const store::AuditEntry audit{services.now(), token.project, admin.id, "token_revoked", "token " + token.id};
  TRACEWEIR_TRY_VOID(services.store.revoke_token(token.id, audit.at, audit));
  return http::Response{http::Status::no_content, {}, {}};
}

/// POST /api/v1/tokens/{token}/rotate   body: {overlap_s?}
/// 201 the new token, with its text; the old one ends after the overlap
Result<http::Response> post_rotation(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(admin, authorize_token_admin(request, services));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(token, administered(request, admin, services));
  TRACEWEIR_TRY(overlap, overlap_in(body));
  TRACEWEIR_TRY(text, rotate_token(services.store, token.id, {services.now(), overlap, admin.id}));
  TRACEWEIR_TRY(next, services.store.token(token_of(text).value_or(TokenText{}).id));
  return made(text, services, next.value_or(token));
}

}  // namespace traceweir::api
