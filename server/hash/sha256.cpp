#include "server/hash/sha256.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

#include "analyzer/core/assert.hpp"

namespace traceweir::hash {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

struct ContextFree {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, ContextFree> context{EVP_MD_CTX_new()};
};

// OpenSSL's digest calls fail only for want of memory or by wrong use.
Sha256::Sha256() : state_(std::make_unique<State>()) {
  const bool begun = state_->context && EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1;
  TRACEWEIR_ASSERT(begun);
}

Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  const bool taken = EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1;
  TRACEWEIR_ASSERT(taken);
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> hash{};
  unsigned size = 0;
  const bool done = EVP_DigestFinal_ex(state_->context.get(), hash.data(), &size) == 1 && size == hash.size();
  TRACEWEIR_ASSERT(done);
  std::string text;
  text.reserve(2 * hash.size());
  for (const unsigned char byte : hash) {
    text += digits[byte >> 4];
    text += digits[byte & 0x0f];
  }
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.hex();
}

Result<std::string> sha256_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorCode::io_failed, file + ": cannot be opened");
  Sha256 hash;
  std::vector<char> buffer(std::size_t{256} << 10);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0)
    hash.update(std::as_bytes(std::span(buffer).first(static_cast<std::size_t>(in.gcount()))));
  if (in.bad()) return fail(ErrorCode::io_failed, file + ": cannot be read");
  return hash.hex();
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of(digits) == std::string_view::npos;
}

}  // namespace traceweir::hash
