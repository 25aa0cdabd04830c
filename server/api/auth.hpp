// For: who asks, and whether they may. Tokens come in the Authorization header only.
// Not for: the text form of tokens (tokens.hpp).
#pragma once

#include <optional>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/api/services.hpp"

namespace traceweir::api {

enum class Right { upload, read, admin };

/// Who was let in. `token` is empty for a reader of a public project.
struct Caller {
  std::string token;
  store::Project project;
  std::string binding{};  ///< of the token: the CI job that it was issued to; empty: none
};

/// Lets the caller in to the project that the path names (`{project}`).
/// Errors: unauthorized (no token, or one that is unknown, expired, revoked: which of these is not said),
///         forbidden (a valid token for another project or without the scope), not_found (no such project, said only to
///         tokens that may see it), store_unavailable.
/// Thread: blocks.
Result<Caller> authorize(const http::Request& request, Services& services, Right right);

/// Lets an administrator of the whole service in.
/// Errors: unauthorized, forbidden, store_unavailable.
Result<store::Token> authorize_admin(const http::Request& request, Services& services);

/// Lets in who may administer tokens: of the whole service, or with a project's token those of that project.
/// Errors: unauthorized, forbidden, store_unavailable.
Result<store::Token> authorize_token_admin(const http::Request& request, Services& services);

/// Who asks: the stored token; nothing where none was sent.
/// Errors: unauthorized (a token that is not valid), store_unavailable.
Result<std::optional<store::Token>> authenticate(const http::Request& request, Services& services);

/// Lets in whoever may upload to a project or read one, whichever it is.
/// Errors: unauthorized, forbidden, store_unavailable.
Result<store::Token> authorize_member(const http::Request& request, Services& services);

/// The same as authorize, for handlers that only need to know that the caller may.
/// Errors: those of authorize().
template <Right right>
Result<void> admits(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, right));
  static_cast<void>(caller);
  return {};
}

/// The same as authorize_token_admin, for handlers that only need to know that the caller may.
/// Errors: those of authorize_token_admin().
Result<void> admits_token_admin(const http::Request& request, Services& services);

}  // namespace traceweir::api
