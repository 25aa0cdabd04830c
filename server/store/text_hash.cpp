#include "server/store/text_hash.hpp"

#include <openssl/sha.h>

namespace traceweir::store {

std::string sha256_hex(std::string_view text) {
  const std::string bytes(text);
  unsigned char hash[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash);
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : hash) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

}  // namespace traceweir::store
