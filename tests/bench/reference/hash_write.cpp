// What receiving a file costs beside the network: its SHA-256 and writing it. The bytes are in memory before.
#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "tests/bench/reference/stopwatch.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  constexpr std::size_t piece = std::size_t{256} * 1024;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> hash(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(argv[2], "wb"), &std::fclose);
  if (bytes.empty() || !hash || !out || EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) != 1) return EXIT_FAILURE;
  std::setvbuf(out.get(), nullptr, _IONBF, 0);
  const traceweir::bench::Stopwatch watch;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::size_t count = std::min(piece, bytes.size() - at);
    if (EVP_DigestUpdate(hash.get(), bytes.data() + at, count) != 1) return EXIT_FAILURE;
    if (std::fwrite(bytes.data() + at, 1, count, out.get()) != count) return EXIT_FAILURE;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  if (EVP_DigestFinal_ex(hash.get(), digest, nullptr) != 1) return EXIT_FAILURE;
  watch.print(fmt::format("\"bytes\": {}, \"first\": {}", bytes.size(), digest[0]));
  return EXIT_SUCCESS;
}
