#include "server/api/auth.hpp"

#include <fmt/format.h>

#include "server/api/tokens.hpp"
#include "server/http/admission.hpp"

namespace traceweir::api {
namespace {

tl::unexpected<Error> not_let_in() {
  return fail(ErrorCode::unauthorized, "a valid token is needed: Authorization: Bearer twr_…");
}

/// Tokens of minutes need no such time. That it was not written must not keep anybody out.
void note_use(const store::Token& token, Services& services) {
  const store::Timestamp now = services.now();
  if (!token.binding.empty() || (token.last_used_at && now - *token.last_used_at < store::token_use_grain)) return;
  static_cast<void>(services.store.note_token_use(token.id, now));
}

struct RightRow {
  Right right;
  std::string_view word;
  bool store::Scopes::*flag;
};
constexpr RightRow right_rows[] = {{Right::upload, "upload", &store::Scopes::upload},
                                   {Right::read, "read", &store::Scopes::read},
                                   {Right::admin, "admin", &store::Scopes::admin}};

Result<void> check_scope(const store::Token& token, Right right) {
  const RightRow& row = right_rows[static_cast<std::size_t>(right)];
  if (token.scopes.*(row.flag) || token.scopes.admin) return {};
  return fail(ErrorCode::forbidden, fmt::format("this token lacks the scope '{}'", row.word));
}

}  // namespace

Result<std::optional<store::Token>> authenticate(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(text, request.bearer_token());
  if (!text) return std::optional<store::Token>{};
  const auto token = token_of(*text);
  if (!token) return not_let_in();
  TRACEWEIR_TRY(stored, services.store.token(token->id));
  const bool valid = stored && secret_matches(*token, *stored) && is_live(*stored, services.now());
  if (!valid) request.admission->found_wrong();
  if (!valid || !request.admission->found_valid()) return not_let_in();
  note_use(*stored, services);
  return stored;
}

Result<Caller> authorize(const http::Request& request, Services& services, Right right) {
  const std::string& name = request.param("project");
  TRACEWEIR_TRY(token, authenticate(request, services));
  TRACEWEIR_TRY(project, services.store.project(name));
  const bool open_to_all = right == Right::read && project && project->read_access == store::ReadAccess::everyone;
  if (open_to_all) return Caller{token ? token->id : "", *project, token ? token->binding : ""};
  if (!token) return not_let_in();
  if (!token->project.empty() && token->project != name)
    return fail(ErrorCode::forbidden, "this token belongs to another project");
  TRACEWEIR_TRY_VOID(check_scope(*token, right));
  if (!project)
    return fail(ErrorCode::not_found,
                fmt::format("there is no project '{}'; `traceweird token create --project {}` makes it", name, name));
  return Caller{token->id, *project, token->binding};
}

Result<store::Token> authorize_admin(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(token, authenticate(request, services));
  if (!token) return not_let_in();
  if (!token->scopes.admin || !token->project.empty())
    return fail(ErrorCode::forbidden, "this needs an administrator's token of the whole service");
  return *token;
}

Result<store::Token> authorize_token_admin(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(token, authenticate(request, services));
  if (!token) return not_let_in();
  TRACEWEIR_TRY_VOID(check_scope(*token, Right::admin));
  return *token;
}

Result<void> admits_token_admin(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(token, authorize_token_admin(request, services));
  static_cast<void>(token);
  return {};
}

Result<store::Token> authorize_member(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(token, authenticate(request, services));
  if (!token) return not_let_in();
  if (!token->scopes.upload) TRACEWEIR_TRY_VOID(check_scope(*token, Right::read));
  return *token;
}

}  // namespace traceweir::api
