#include "analyzer/ingest/inflate_parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace traceweir::ingest {
namespace {

/// Small files may compress by any ratio: the ratio says something from here on.
constexpr std::uint64_t ratio_checked_from = std::uint64_t{1} << 20;

std::string why(int error) {
  std::array<char, 128> text{};
  return ::strerror_r(error, text.data(), text.size());
}

}  // namespace

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorCode::io_failed, fmt::format("cannot open the trace: {}", why(errno)));
  return File(descriptor);
}

Result<std::size_t> File::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = ::read(descriptor_, buffer.data() + filled, buffer.size() - filled);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::io_failed, fmt::format("cannot read the trace: {}", why(errno)));
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Result<void> Quota::spend(std::size_t inflated, std::uint64_t compressed) {
  inflated_ += inflated;
  if (inflated_ > limits_.inflated_bytes_max)
    return fail(ErrorCode::trace_too_large,
                fmt::format("more than {} bytes after decompression (inflated_bytes_max)", limits_.inflated_bytes_max));
  if (inflated_ <= ratio_checked_from) return {};
  if (static_cast<double>(inflated_) > limits_.inflate_ratio_max * static_cast<double>(compressed))
    return fail(ErrorCode::trace_too_large, fmt::format("{} bytes inflate to {}: more than 1 : {} (inflate_ratio_max)",
                                                        compressed, inflated_, limits_.inflate_ratio_max));
  return {};
}

}  // namespace traceweir::ingest
