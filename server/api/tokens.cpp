#include "server/api/tokens.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <span>

#include "server/hash/sha256.hpp"

namespace traceweir::api {
namespace {

constexpr std::string_view prefix = "twr_";
constexpr std::size_t id_bytes = 8;
constexpr std::size_t secret_bytes = 32;

std::string hex_of(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool is_hex(std::string_view text, std::size_t size) {
  return text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

struct ScopeRow {
  std::string_view word;
  bool store::Scopes::*flag;
};
constexpr ScopeRow scope_rows[] = {
    {"upload", &store::Scopes::upload}, {"read", &store::Scopes::read}, {"admin", &store::Scopes::admin}};

}  // namespace

Result<TokenText> new_token() {
  std::array<unsigned char, id_bytes + secret_bytes> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1)
    return fail(ErrorCode::internal, "the system gives no random numbers");
  const std::span<const unsigned char> bytes(random);
  return TokenText{hex_of(bytes.first(id_bytes)), hex_of(bytes.subspan(id_bytes))};
}

std::string to_text(const TokenText& token) { return fmt::format("{}{}_{}", prefix, token.id, token.secret); }

std::optional<TokenText> token_of(std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  const std::size_t bar = text.find('_');
  if (bar == std::string_view::npos) return std::nullopt;
  TokenText token{std::string(text.substr(0, bar)), std::string(text.substr(bar + 1))};
  if (!is_hex(token.id, 2 * id_bytes) || !is_hex(token.secret, 2 * secret_bytes)) return std::nullopt;
  return token;
}

bool secret_matches(const TokenText& token, const store::Token& stored) {
  const std::string hash = hash::sha256_hex(token.secret);
  return hash.size() == stored.secret_sha256.size() &&
         CRYPTO_memcmp(hash.data(), stored.secret_sha256.data(), hash.size()) == 0;
}

Result<store::Scopes> scopes_of(std::string_view text) {
  store::Scopes scopes;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto row =
        std::find_if(std::begin(scope_rows), std::end(scope_rows), [&](const ScopeRow& r) { return r.word == word; });
    if (row == std::end(scope_rows))
      return fail(ErrorCode::usage,
                  fmt::format("scope '{}': expected upload, read or admin, separated by commas", word));
    scopes.*(row->flag) = true;
  }
  if (scopes == store::Scopes{}) return fail(ErrorCode::usage, "scope: at least one of upload, read, admin");
  return scopes;
}

std::string to_text(const store::Scopes& scopes) {
  std::string text;
  for (const ScopeRow& row : scope_rows)
    if (scopes.*(row.flag)) text += (text.empty() ? "" : ",") + std::string(row.word);
  return text;
}

namespace {

/// Fills in what is stored of the token's text; returns what is noted of its making.
store::AuditEntry described(store::Token& description, const TokenText& token, const std::string& actor) {
  description.id = token.id;
  description.secret_sha256 = hash::sha256_hex(token.secret);
  return {description.created_at, description.project, actor, "token_created",
          fmt::format("token {} ({})", token.id, to_text(description.scopes))};
}

}  // namespace

Result<bool> keep_first_token(store::Store& store, const TokenText& token, store::Token description,
                              const std::string& actor) {
  const store::AuditEntry audit = described(description, token, actor);
  return store.add_first_administrator(description, audit);
}

bool is_live(const store::Token& token, store::Timestamp now) {
  return !token.revoked_at && (!token.expires_at || now < *token.expires_at);
}

Result<std::string> rotate_token(store::Store& store, const std::string& id, const Rotation& rotation) {
  TRACEWEIR_TRY(old, store.token(id));
  if (!old) return fail(ErrorCode::not_found, "token: no such token");
  if (!is_live(*old, rotation.now))
    return fail(ErrorCode::conflict, "token: it is revoked or has expired: make a new one");
  if (!old->binding.empty()) return fail(ErrorCode::conflict, "token: it was issued to a CI job and ends by itself");
  if (!old->replaced_by.empty())
    return fail(ErrorCode::conflict, fmt::format("token: {} has taken its place: rotate that one", old->replaced_by));
  store::Token next = *old;
  next.created_at = rotation.now;
  next.last_used_at.reset();
  if (old->expires_at) next.expires_at = rotation.now + (*old->expires_at - old->created_at);
  TRACEWEIR_TRY(text, issue_token(store, next, rotation.actor));
  const std::string successor = token_of(text).value_or(TokenText{}).id;
  const store::AuditEntry audit{
      rotation.now, old->project, rotation.actor, "token_rotated",
      fmt::format("token {} ends in {} s; its successor is {}", id, rotation.overlap.count(), successor)};
  const auto replaced = store.replace_token(id, successor, rotation.now + rotation.overlap, audit);
  if (replaced) return text;
  // Somebody else was faster. Nobody has seen this one's text.
  const store::AuditEntry end{rotation.now, old->project, rotation.actor, "token_revoked", "token " + successor};
  static_cast<void>(store.revoke_token(successor, rotation.now, end));
  return tl::unexpected(replaced.error());
}

Result<std::string> issue_token(store::Store& store, store::Token description, const std::string& actor) {
  TRACEWEIR_TRY(token, new_token());
  const store::AuditEntry audit = described(description, token, actor);
  TRACEWEIR_TRY_VOID(store.add_token(description, audit));
  return to_text(token);
}

}  // namespace traceweir::api
