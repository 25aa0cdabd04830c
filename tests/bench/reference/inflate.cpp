// R3: plain zlib inflate of a gzip file to nowhere.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "tests/bench/reference/stopwatch.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  constexpr std::size_t piece = std::size_t{256} * 1024;
  const traceweir::bench::Stopwatch watch;
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> in(piece);
  std::vector<unsigned char> out(piece);
  z_stream stream{};
  if (!file || inflateInit2(&stream, 15 + 16) != Z_OK) return EXIT_FAILURE;
  std::uint64_t bytes = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0) {
      file.read(in.data(), static_cast<std::streamsize>(in.size()));
      stream.next_in = reinterpret_cast<unsigned char*>(in.data());
      stream.avail_in = static_cast<unsigned>(file.gcount());
    }
    stream.next_out = out.data();
    stream.avail_out = static_cast<unsigned>(out.size());
    state = inflate(&stream, Z_NO_FLUSH);
    bytes += out.size() - stream.avail_out;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END) return EXIT_FAILURE;
  watch.print(fmt::format("\"bytes\": {}", bytes));
  return EXIT_SUCCESS;
}
