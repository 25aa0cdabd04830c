// Id tokens of strangers, and keys of issuers. Shape: a token as it is sent, or its head, claims and signature as three
// lines, which chance hits better than their base64. No token is signed by a key whose owner did not write it.
#include "server/oidc/id_token.hpp"

#include <algorithm>
#include <string>

#include "analyzer/core/assert.hpp"
#include "server/oidc/keys.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

namespace {

constexpr oidc::Time now{std::chrono::seconds{1'764'500'000}};

// The keys of RFC 7515, A.2 and A.3: everybody knows what they sign there, and nothing else that they signed.
constexpr std::string_view key_set = R"({"keys": [
  {"kty": "RSA", "kid": "r", "e": "AQAB", "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"},
  {"kty": "EC", "crv": "P-256", "kid": "e", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";

std::string base64url(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = (bits << 8) | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i <= count; ++i) out += digits[(bits >> (18 - 6 * i)) & 63];
  }
  return out;
}

std::string token_of(std::string_view text) {
  const std::size_t first = std::min(text.find('\n'), text.size());
  if (first == text.size()) return std::string(text);
  const std::size_t second = std::min(text.find('\n', first + 1), text.size());
  return base64url(text.substr(0, first)) + "." + base64url(text.substr(first + 1, second - first - 1)) + "." +
         base64url(text.substr(std::min(second + 1, text.size())));
}

void check_token(const std::string& text) {
  static const auto keys = oidc::KeySet::parse(key_set);
  TRACEWEIR_ASSERT(keys.has_value() && keys->size() == 2);
  const auto token = oidc::parse_id_token(text);
  if (!token) return fuzz::check_refusal(token.error());
  TRACEWEIR_ASSERT(token->signed_text + "." + base64url(token->signature) == text);
  const auto holds = oidc::check_claims(token->claims, {"traceweir", std::chrono::seconds{3600}}, now);
  if (!holds) fuzz::check_refusal(holds.error());
  static_cast<void>(oidc::issuer_of(*token));
  for (const char* id : {"r", "e"}) TRACEWEIR_ASSERT(!oidc::signed_by(*token, *keys->find(id)));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  check_token(token_of(text));
  const auto keys = oidc::KeySet::parse(text);
  if (!keys) return fuzz::check_refusal(keys.error()), 0;
  TRACEWEIR_ASSERT(keys->size() > 0 && keys->size() <= oidc::KeySet::keys_max);
  return 0;
}
