// For: the public keys of an issuer (a JWK set), and whether one of them signed a token. Source: RFC 7517, RFC 7518.
// Not for: fetching them (key_ring.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/oidc/id_token.hpp"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace traceweir::oidc {

struct FreeKey {
  void operator()(evp_pkey_st* key) const;
};

/// A key is of one algorithm: RSA (2048 to 8192 bits) of RS256, P-256 of ES256.
struct Key {
  std::string id;
  Algorithm algorithm = Algorithm::rs256;
  std::unique_ptr<evp_pkey_st, FreeKey> key;
};

class KeySet {
 public:
  static constexpr std::size_t keys_max = 64;

  /// Keys of other kinds or for other uses are left out; an issuer may have them.
  /// Errors: unreachable: no JWK set, more than keys_max keys in it, or none that can be used.
  static Result<KeySet> parse(std::string_view json);

  [[nodiscard]] const Key* find(std::string_view id) const;
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  std::vector<Key> keys_;
};

/// Whether `key` signed it. A key of another algorithm than the token's did not, whatever the bytes say.
bool signed_by(const IdToken& token, const Key& key);

}  // namespace traceweir::oidc
