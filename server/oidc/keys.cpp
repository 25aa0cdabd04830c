#include "server/oidc/keys.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace traceweir::oidc {
namespace {

constexpr int rsa_bits_min = 2048, rsa_bits_max = 8192;
constexpr std::size_t exponent_bytes_max = 8;
constexpr std::size_t coordinate_bytes = 32;  // of P-256

template <auto release>
struct Release {
  template <typename T>
  void operator()(T* object) const {
    release(object);
  }
};
using Number = std::unique_ptr<BIGNUM, Release<&BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Release<&OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Release<&OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Release<&EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Release<&EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Release<&ECDSA_SIG_free>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, FreeKey>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Number number_of(std::string_view bytes) {
  return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

std::optional<std::string> bytes_in(const wire::Json& object, const char* name) {
  auto bytes = base64url_decoded(text_in(object, name));
  return bytes && !bytes->empty() ? bytes : std::nullopt;
}

/// A public key of OpenSSL; null: what was given is none.
OwnedKey made(const char* kind, OSSL_PARAM_BLD* parts) {
  const Params params(OSSL_PARAM_BLD_to_param(parts));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* key = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1)
    return nullptr;
  OwnedKey owned(key);
  const KeyContext checking(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  return checking && EVP_PKEY_public_check(checking.get()) == 1 ? std::move(owned) : nullptr;
}

OwnedKey rsa_key(const wire::Json& jwk) {
  const auto modulus = bytes_in(jwk, "n");
  const auto exponent = bytes_in(jwk, "e");
  if (!modulus || !exponent || modulus->size() > rsa_bits_max / 8 + 1 || exponent->size() > exponent_bytes_max)
    return nullptr;
  const Number n = number_of(*modulus);
  const Number e = number_of(*exponent);
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || BN_num_bits(n.get()) < rsa_bits_min || BN_num_bits(n.get()) > rsa_bits_max ||
      BN_is_odd(e.get()) != 1 || BN_is_one(e.get()) == 1)
    return nullptr;
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  return made("RSA", builder.get());
}

OwnedKey ec_key(const wire::Json& jwk) {
  const auto x = bytes_in(jwk, "x");
  const auto y = bytes_in(jwk, "y");
  const Builder builder(OSSL_PARAM_BLD_new());
  if (text_in(jwk, "crv") != "P-256" || !x || !y || !builder || x->size() != coordinate_bytes ||
      y->size() != coordinate_bytes)
    return nullptr;
  const std::string point = "\x04" + *x + *y;
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  return made("EC", builder.get());
}

struct Kind {
  std::string_view type, algorithm_word;
  Algorithm algorithm;
  OwnedKey (*read)(const wire::Json& jwk);
};
constexpr Kind kinds[] = {{"RSA", "RS256", Algorithm::rs256, &rsa_key}, {"EC", "ES256", Algorithm::es256, &ec_key}};

/// Nothing: a key of a kind or for a use that is not ours.
std::optional<Key> key_of(const wire::Json& jwk) {
  if (!jwk.is_object()) return std::nullopt;
  const std::string use = text_in(jwk, "use"), algorithm = text_in(jwk, "alg"), id = text_in(jwk, "kid");
  if (id.empty() || (!use.empty() && use != "sig")) return std::nullopt;
  for (const Kind& kind : kinds) {
    if (text_in(jwk, "kty") != kind.type || (!algorithm.empty() && algorithm != kind.algorithm_word)) continue;
    OwnedKey key = kind.read(jwk);
    if (key == nullptr) return std::nullopt;
    return Key{id, kind.algorithm, std::move(key)};
  }
  return std::nullopt;
}

/// ES256 writes r and s one after the other; OpenSSL wants them in DER. Empty: no such signature.
std::string der_of(const std::string& raw) {
  if (raw.size() != 2 * coordinate_bytes) return {};
  Signature signature(ECDSA_SIG_new());
  Number r = number_of(std::string_view(raw).substr(0, coordinate_bytes));
  Number s = number_of(std::string_view(raw).substr(coordinate_bytes));
  if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return {};
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  std::string der(static_cast<std::size_t>(std::max(i2d_ECDSA_SIG(signature.get(), nullptr), 0)), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  if (der.empty() || i2d_ECDSA_SIG(signature.get(), &out) != static_cast<int>(der.size())) return {};
  return der;
}

}  // namespace

void FreeKey::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

Result<KeySet> KeySet::parse(std::string_view text) {
  const auto json = wire::parse_json(text);
  const auto list = json && json->is_object() ? json->find("keys") : wire::Json::const_iterator{};
  if (!json || !json->is_object() || list == json->end() || !list->is_array())
    return fail(ErrorCode::unreachable, "the issuer's keys are no JWK set");
  if (list->size() > keys_max)
    return fail(ErrorCode::unreachable, "the issuer has more than " + std::to_string(keys_max) + " keys");
  KeySet set;
  for (const wire::Json& jwk : *list)
    if (auto key = key_of(jwk)) set.keys_.push_back(*std::move(key));
  if (set.keys_.empty()) return fail(ErrorCode::unreachable, "the issuer has no key for RS256 or ES256");
  return set;
}

const Key* KeySet::find(std::string_view id) const {
  for (const Key& key : keys_)
    if (key.id == id) return &key;
  return nullptr;
}

bool signed_by(const IdToken& token, const Key& key) {
  if (token.algorithm != key.algorithm) return false;
  const std::string signature = key.algorithm == Algorithm::es256 ? der_of(token.signature) : token.signature;
  const DigestContext context(EVP_MD_CTX_new());
  if (signature.empty() || !context ||
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.key.get()) != 1)
    return false;
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(token.signed_text),
                          token.signed_text.size()) == 1;
}

}  // namespace traceweir::oidc
