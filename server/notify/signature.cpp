#include "server/notify/signature.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <climits>

#include "analyzer/core/assert.hpp"

namespace traceweir::notify {

std::string signature_of(std::string_view secret, std::string_view timestamp, std::string_view body) {
  TRACEWEIR_ASSERT(secret.size() <= INT_MAX);
  const std::string text = fmt::format("{}.{}", timestamp, body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned length = 0;
  const unsigned char* done =
      HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(), &length);
  TRACEWEIR_ASSERT(done != nullptr);
  std::string signature = "sha256=";
  for (unsigned i = 0; i < length; ++i) signature += fmt::format("{:02x}", bytes[i]);
  return signature;
}

}  // namespace traceweir::notify
