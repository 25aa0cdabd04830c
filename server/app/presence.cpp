#include "server/app/presence.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <span>

#include "server/app/analysts.hpp"
#include "server/spool/uuid.hpp"
#include "server/store/strikes.hpp"

namespace traceweir::app {
namespace {

namespace fs = std::filesystem;

bool lock(const spool::OwnedFile& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

/// Frees a job whose process is gone. It speaks against the upload only where that did not come just now.
Result<void> free_job(store::Store& store, const store::Job& job) {
  TRACEWEIR_TRY(run, store.run(job.project, job.run));
  if (!run || now() - run->head.received_at < store::innocence) return store.release_job({job.holder});
  const auto ended = store.renew_claims(std::span(&job.holder, 1), std::chrono::milliseconds{0});
  return ended ? Result<void>{} : tl::unexpected(ended.error());
}

Result<void> end_leases_of_the_dead(store::Store& store, const fs::path& folder) {
  TRACEWEIR_TRY(jobs, store.jobs());
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const spool::OwnedFile file(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0 || !lock(file)) continue;                     // it lives
    const std::string its = entry.path().filename().string() + '/';  // claims are called after their process
    for (const store::Job& job : jobs)
      if (job.holder.starts_with(its)) TRACEWEIR_TRY_VOID(free_job(store, job));
    fs::remove(entry.path(), ignored);
  }
  return {};
}

}  // namespace

Result<Presence> appear(const Config& config, store::Store& store) {
  Presence presence(fmt::format("{}-{}", ::getpid(), spool::new_uuid()));
  if (!store::is_shared(config.store_url())) return presence;
  const fs::path folder = fs::path(config.data_dir) / "processes";
  TRACEWEIR_TRY_VOID(spool::make_folder(folder));
  TRACEWEIR_TRY_VOID(end_leases_of_the_dead(store, folder));
  presence.path_.emplace(folder / presence.name_);
  presence.file_ = spool::OwnedFile(
      ::open(presence.path_->path().c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (presence.file_.get() < 0) return tl::unexpected(spool::system_error(errno, "showing this process to others"));
  static_cast<void>(lock(presence.file_));  // where there are no locks, leases are all there is
  return presence;
}

}  // namespace traceweir::app
