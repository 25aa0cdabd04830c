// For: a token as the store keeps it: whose it is and what it may, and never its secret. Not for: its text, or who may
// do what (server/api).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "server/store/timestamp.hpp"

namespace traceweir::store {

/// Rights of a token, as a set of flags.
struct Scopes {
  bool upload = false, read = false, admin = false;
  friend bool operator==(const Scopes&, const Scopes&) = default;
};

struct Token {
  std::string id;             ///< the public part
  std::string secret_sha256;  ///< hex
  std::string project;        ///< empty: every project
  Scopes scopes;
  std::string note;
  Timestamp created_at{};
  std::optional<Timestamp> expires_at, revoked_at;
  std::string binding{};                    ///< JSON: the CI job that it was issued to; empty: made by a person
  std::optional<Timestamp> last_used_at{};  ///< to within token_use_grain
  std::string replaced_by{};                ///< id of the token that a rotation put into its place; empty: none
};

/// How far the time of a token's last use may lag behind, so that not every request writes.
inline constexpr std::chrono::minutes token_use_grain{10};

}  // namespace traceweir::store
