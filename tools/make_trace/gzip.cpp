#include "tools/make_trace/gzip.hpp"

#include <zlib.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

namespace traceweir::make_trace {

void gzip_in_place(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  in.close();

  const std::unique_ptr<gzFile_s, int (*)(gzFile)> out(gzopen(file.c_str(), "wb6"), &gzclose);
  if (!out) throw std::runtime_error(file.string() + ": cannot be written");
  if (gzfwrite(bytes.data(), 1, bytes.size(), out.get()) != bytes.size())
    throw std::runtime_error(file.string() + ": cannot be compressed");
}

}  // namespace traceweir::make_trace
