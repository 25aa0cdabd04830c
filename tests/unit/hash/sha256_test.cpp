#include "server/hash/sha256.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace traceweir;
using namespace traceweir::hash;

namespace {

constexpr std::string_view abc_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("sha256: the standard's vectors, in one piece and in two") {
  CHECK(sha256_hex("abc") == abc_sha256);
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hash;
  hash.update(bytes_of("a"));
  hash.update(bytes_of("bc"));
  CHECK(hash.hex() == abc_sha256);
  CHECK(is_sha256(abc_sha256));
  CHECK_FALSE(is_sha256("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"));
  CHECK_FALSE(is_sha256("../../../etc/passwd"));
}

TEST_CASE("sha256: of a file of several buffers, and of none") {
  const auto file = std::filesystem::temp_directory_path() / ("traceweir-hash-" + std::to_string(::getpid()));
  const std::string text(700'001, 'x');
  std::ofstream(file, std::ios::binary) << text;
  CHECK(sha256_of_file(file.string()).value() == sha256_hex(text));
  std::filesystem::remove(file);
  const auto gone = sha256_of_file(file.string());
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == ErrorCode::io_failed);
  CHECK_FALSE(sha256_of_file(std::filesystem::temp_directory_path().string()));
}
