#include "analyzer/ingest/open_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace traceweir::ingest {
namespace {

std::string words_of(int error) { return std::generic_category().message(error); }

tl::unexpected<Error> write_failed(int error) {
  if (error == EFBIG)
    return fail(ErrorCode::trace_too_large,
                "the trace is larger after decompression than one file may be here "
                "(scratch_bytes_max)");
  const bool full = error == ENOSPC || error == EDQUOT;
  return fail(full ? ErrorCode::disk_full : ErrorCode::io_failed,
              fmt::format("cannot write the inflated trace: {}", words_of(error)));
}

}  // namespace

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      ahead_(std::move(other.ahead_)),
      bytes_read_(other.bytes_read_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(ahead_, other.ahead_);
  std::swap(bytes_read_, other.bytes_read_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorCode::io_failed, fmt::format("cannot open the trace: {}", words_of(errno)));
  File file(descriptor);
  struct stat about {};
  const bool readable = ::fstat(descriptor, &about) == 0 && (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode));
  if (!readable) return fail(ErrorCode::io_failed, "the trace is no file that can be read");
  return file;
}

Result<File> File::temporary() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return fail(ErrorCode::io_failed, fmt::format("no temporary directory: {}", error.message()));
  std::string name = (folder / "traceweir-XXXXXX").string();
  File made(::mkostemp(name.data(), O_CLOEXEC));
  if (made.descriptor_ < 0) return fail(ErrorCode::io_failed, fmt::format("no temporary file: {}", words_of(errno)));
  ::unlink(name.c_str());
  return made;
}

Result<std::size_t> File::read_descriptor(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = ::read(descriptor_, buffer.data() + filled, buffer.size() - filled);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::io_failed, fmt::format("cannot read the trace: {}", words_of(errno)));
    filled += static_cast<std::size_t>(got);
  }
  bytes_read_ += filled;
  return filled;
}

Result<std::size_t> File::read(std::span<char> buffer) {
  if (ahead_.empty()) return read_descriptor(buffer);
  const std::size_t given = std::min(buffer.size(), ahead_.size());
  std::copy_n(ahead_.begin(), given, buffer.begin());
  ahead_.erase(0, given);
  return given;
}

Result<std::string_view> File::peek(std::size_t bytes) {
  std::string head(bytes, '\0');
  TRACEWEIR_TRY(got, read_descriptor(head));
  head.resize(got);
  ahead_ = std::move(head);
  return std::string_view(ahead_);
}

Result<void> File::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return write_failed(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::optional<std::uint64_t>> File::size() const {
  const off_t here = ::lseek(descriptor_, 0, SEEK_CUR);
  if (here < 0 && errno == ESPIPE) return std::optional<std::uint64_t>{};
  if (here > 0) return std::optional<std::uint64_t>{};  // someone has read of it: what is left comes as from a pipe
  TRACEWEIR_TRY(bytes, size_of(descriptor_));
  return std::optional(bytes);
}

// By seeking: asking about a file's name and kind is closed where traces of strangers are read.
Result<std::uint64_t> size_of(int descriptor) {
  const off_t here = ::lseek(descriptor, 0, SEEK_CUR);
  const off_t end = here < 0 ? -1 : ::lseek(descriptor, 0, SEEK_END);
  if (end < 0 || ::lseek(descriptor, here, SEEK_SET) != here)
    return fail(ErrorCode::io_failed, fmt::format("cannot read the trace: {}", words_of(errno)));
  return static_cast<std::uint64_t>(end);
}

}  // namespace traceweir::ingest
