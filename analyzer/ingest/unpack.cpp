#include "analyzer/ingest/unpack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/ingest/inflate.hpp"

namespace traceweir::ingest {
namespace {

constexpr std::size_t copy_bytes = std::size_t{256} << 10;

std::string why(int error) { return std::generic_category().message(error); }

Result<void> write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(ErrorCode::io_failed, fmt::format("cannot write the inflated trace: {}", why(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> copy_all(ByteSource& from, int descriptor) {
  std::vector<char> buffer(copy_bytes);
  for (;;) {
    TRACEWEIR_TRY(got, from.read(buffer));
    if (got == 0) return {};
    TRACEWEIR_TRY_VOID(write_all(descriptor, {buffer.data(), got}));
  }
}

}  // namespace

UnpackedFile::UnpackedFile(UnpackedFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

UnpackedFile::~UnpackedFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<UnpackedFile> UnpackedFile::of(const std::filesystem::path& packed, const ReadLimits& limits) {
  TRACEWEIR_TRY(source, open_bytes(packed, limits));
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(std::filesystem::temp_directory_path(error), error);
  if (error) return fail(ErrorCode::io_failed, fmt::format("no temporary directory: {}", error.message()));
  std::string name = (folder / "traceweir-XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorCode::io_failed, fmt::format("no temporary file: {}", why(errno)));
  UnpackedFile unpacked{name};
  auto copied = copy_all(*source, descriptor);
  ::close(descriptor);
  if (!copied) return tl::unexpected(std::move(copied).error());
  return unpacked;
}

}  // namespace traceweir::ingest
