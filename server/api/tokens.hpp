// For: tokens as text: `twr_<id>_<secret>`, 64 random bits of id and 256 of secret. Only the secret's hash is stored.
// Not for: who may do what (auth.hpp).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/store/store.hpp"

namespace traceweir::api {

struct TokenText {
  std::string id;
  std::string secret;
};

/// A new token from the system's random numbers. Shape: id 16, secret 64 characters of hex.
/// Errors: internal (the system has no random numbers).
Result<TokenText> new_token();

/// `twr_<id>_<secret>`.
std::string to_text(const TokenText& token);

/// Nothing: the text has not the form of a token.
std::optional<TokenText> token_of(std::string_view text);

/// Compares in constant time.
bool secret_matches(const TokenText& token, const store::Token& stored);

/// `upload,read`: a list of `upload`, `read`, `admin`. Errors: usage, naming the word.
Result<store::Scopes> scopes_of(std::string_view text);
std::string to_text(const store::Scopes& scopes);

/// Makes a token and stores its hash; the text is returned once and never again.
/// Errors: what the store says.
Result<std::string> issue_token(store::Store& store, store::Token description, const std::string& actor);

/// One token takes the place of another; for `overlap` both are valid.
struct Rotation {
  store::Timestamp now{};
  std::chrono::seconds overlap{};
  std::string actor;
};
inline constexpr std::chrono::seconds overlap_default = std::chrono::hours{24};
inline constexpr std::chrono::seconds overlap_max = std::chrono::hours{24 * 90};

/// A new token with the project, scopes, note and (from now on) the lifetime of the old one; its text is returned once.
/// Errors: not_found, conflict (the old one is not valid any more, was issued to a job, or has a successor, which is
///         named), and what the store says.
Result<std::string> rotate_token(store::Store& store, const std::string& id, const Rotation& rotation);

/// Whether it is valid at `now`.
bool is_live(const store::Token& token, store::Timestamp now);

/// Stores the hash of a token that was made before as that of the first administrator, where there is none. Whether it
/// did. Errors: what the store says.
Result<bool> keep_first_token(store::Store& store, const TokenText& token, store::Token description,
                              const std::string& actor);

}  // namespace traceweir::api
