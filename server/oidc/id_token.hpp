// For: an id token as text taken apart, and whether what it states holds here and now. Source: RFC 7519 (JWT), RFC 7515
// (its compact form), OpenID Connect Core 3.1.3.7. Not for: its signature (keys.hpp), or what its job may do.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/wire/json.hpp"

namespace traceweir::oidc {

using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

/// Two, and no word more: `none` and those with a shared secret are how such tokens are forged elsewhere.
enum class Algorithm { rs256, es256 };

struct IdToken {
  Algorithm algorithm = Algorithm::rs256;
  std::string key_id;
  std::string signed_text;
  std::string signature;  ///< bytes
  wire::Json claims;
};

/// The bytes that base64url stands for (RFC 7515, no padding). Nothing: it is none.
std::optional<std::string> base64url_decoded(std::string_view text);

/// A member that is text; empty: there is no such member.
std::string text_in(const wire::Json& object, const char* key);

/// Nothing in it is believed yet, `iss` included.
/// Errors: unauthorized: not three parts, no JSON objects, another algorithm, no key id, extensions that must be
///         understood (`crit`).
Result<IdToken> parse_id_token(std::string_view text);

/// The issuer that it names; empty: none.
std::string issuer_of(const IdToken& token);

struct ClaimRules {
  std::string audience;
  std::chrono::seconds age_max;
};

/// Clocks may differ so far.
inline constexpr std::chrono::seconds clock_skew{60};

/// Of a token whose signature holds.
/// Errors: unauthorized, saying which claim is why: `aud`, `exp`, `nbf`, `iat`.
Result<void> check_claims(const wire::Json& claims, const ClaimRules& rules, Time now);

}  // namespace traceweir::oidc
