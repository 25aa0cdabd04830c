#include "server/analysis/feed.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

namespace traceweir::analysis {
namespace {

constexpr int pipe_bytes = 1 << 20;
constexpr std::size_t fed_bytes = std::size_t{64} * 1024;

tl::unexpected<Error> failed(const char* doing) {
  return fail(ErrorCode::io_failed, std::string(doing) + ": " + std::generic_category().message(errno));
}

}  // namespace

Feed::Feed(Descriptor file, Descriptor changed) : file_(std::move(file)), changed_(std::move(changed)) {}

Result<std::shared_ptr<Feed>> Feed::open(const std::filesystem::path& file) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (opened.get() < 0) return failed("opening an upload that arrives");
  Descriptor changed(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (changed.get() < 0) return failed("making an event");
  return std::shared_ptr<Feed>(new Feed(std::move(opened), std::move(changed)));
}

void Feed::tell() {
  constexpr std::uint64_t once = 1;
  // It fails only where the count is full already, which says as much.
  [[maybe_unused]] const ssize_t told = ::write(changed_.get(), &once, sizeof once);
}

void Feed::hear() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t heard = ::read(changed_.get(), &count, sizeof count);
}

void Feed::grew_to(std::uint64_t bytes) {
  bytes_ = bytes;
  tell();
}

void Feed::complete() {
  complete_ = true;
  tell();
}

void Feed::abandon() {
  abandoned_ = true;
  tell();
}

Pump::Pump(Feed& feed, Descriptor pipe) : feed_(&feed), pipe_(std::move(pipe)), piece_(fed_bytes) {
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(pipe_.get(), F_SETPIPE_SZ, pipe_bytes);  // fewer wake-ups; without it the pipe is smaller
  sigset_t broken_pipe;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
}

pollfd Pump::wish_for_room() const { return {waiting_.empty() ? -1 : pipe_.get(), POLLOUT, 0}; }

/// Whether something waits to be written.
bool Pump::refill() {
  if (!waiting_.empty()) return true;
  const bool complete = feed_->is_complete();  // asked first: what is complete grows no more
  const std::uint64_t there = feed_->bytes();
  if (taken_ == there) {
    if (complete) pipe_.close();
    return false;
  }
  const std::size_t wanted = std::min<std::uint64_t>(piece_.size(), there - taken_);
  const ssize_t got = ::pread(feed_->file(), piece_.data(), wanted, static_cast<off_t>(taken_));
  if (got <= 0) {
    feed_->abandon();
    return false;
  }
  waiting_ = std::span(piece_).first(static_cast<std::size_t>(got));
  taken_ += static_cast<std::uint64_t>(got);
  return true;
}

void Pump::push() {
  feed_->hear();
  while (pipe_.get() >= 0 && !feed_->is_abandoned() && refill()) {
    const ssize_t written = ::write(pipe_.get(), waiting_.data(), waiting_.size());
    if (written > 0) {
      waiting_ = waiting_.subspan(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      waiting_ = {};
      pipe_.close();  // it has said what it has to say, or has died
    }
  }
}

}  // namespace traceweir::analysis
