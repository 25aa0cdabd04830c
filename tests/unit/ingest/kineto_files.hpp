// For: traces on disk for the tests of the door and of inflating. Not for: traces in memory (kineto_support.hpp).
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace traceweir::ingest::test {

/// A file with given bytes, gone with this object.
class BytesFile {
 public:
  explicit BytesFile(std::string_view bytes, std::string_view suffix = "") {
    std::string name =
        (std::filesystem::temp_directory_path() / "traceweir-test-XXXXXX").string() + std::string(suffix);
    const int descriptor = ::mkstemps(name.data(), static_cast<int>(suffix.size()));
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  BytesFile(const BytesFile&) = delete;
  BytesFile& operator=(const BytesFile&) = delete;
  ~BytesFile() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// `text` as one member of gzip.
inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string in(text);
  std::string out(deflateBound(&stream, in.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace traceweir::ingest::test
