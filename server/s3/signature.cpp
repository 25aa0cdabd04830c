#include "server/s3/signature.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <climits>

#include "analyzer/core/assert.hpp"
#include "server/hash/sha256.hpp"

namespace traceweir::s3 {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

std::string hmac(std::string_view key, std::string_view text) {
  TRACEWEIR_ASSERT(key.size() <= INT_MAX);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned length = 0;
  const unsigned char* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), bytes.data(), &length);
  TRACEWEIR_ASSERT(done != nullptr);
  return {reinterpret_cast<const char*>(bytes.data()), length};
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 0x0f];
  }
  return text;
}

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '~';
}

std::string signed_names(const Fields& sorted) {
  std::string names;
  for (const auto& [name, value] : sorted) names += (names.empty() ? "" : ";") + name;
  return names;
}

std::string canonical_request(const Signable& request, const Fields& sorted) {
  std::string text = std::string(request.method) + '\n' + encoded(request.path, Slashes::kept) + '\n' +
                     canonical_query(request.query) + '\n';
  for (const auto& [name, value] : sorted) text += name + ':' + value + '\n';
  return text + '\n' + signed_names(sorted) + '\n' + request.payload_sha256;
}

}  // namespace

std::string encoded(std::string_view text, Slashes slashes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c) || (c == '/' && slashes == Slashes::kept)) {
      out += c;
      continue;
    }
    out += '%';
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 0x0f];
  }
  return out;
}

std::string canonical_query(Fields query) {
  for (auto& [key, value] : query) key = encoded(key, Slashes::encoded), value = encoded(value, Slashes::encoded);
  std::sort(query.begin(), query.end());
  std::string text;
  for (const auto& [key, value] : query) text += (text.empty() ? "" : "&") + key + '=' + value;
  return text;
}

std::string authorization(const Signable& request, const Credentials& credentials, std::string_view region,
                          std::string_view time) {
  Fields sorted = request.headers;
  std::sort(sorted.begin(), sorted.end());
  const std::string day(time.substr(0, 8));
  const std::string scope = day + '/' + std::string(region) + "/s3/aws4_request";
  const std::string text = std::string(algorithm) + '\n' + std::string(time) + '\n' + scope + '\n' +
                           hash::sha256_hex(canonical_request(request, sorted));
  std::string key = hmac("AWS4" + credentials.secret, day);
  for (const std::string_view part : {region, std::string_view("s3"), std::string_view("aws4_request")})
    key = hmac(key, part);
  return std::string(algorithm) + " Credential=" + credentials.key_id + '/' + scope +
         ",SignedHeaders=" + signed_names(sorted) + ",Signature=" + hex(hmac(key, text));
}

}  // namespace traceweir::s3
