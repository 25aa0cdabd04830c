#include "server/app/service.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <thread>

#include "analyzer/core/version.hpp"
#include "server/api/routes.hpp"
#include "server/api/tokens.hpp"
#include "server/app/log.hpp"
#include "server/app/stopper.hpp"
#include "server/http/listener.hpp"
#include "server/spool/file.hpp"
#include "server/spool/uuid.hpp"

namespace traceweir::app {
namespace {

/// Threads for short blocking work. SQL and fsync wait for the disk, so a few more than cores help.
constexpr unsigned store_threads = 8;
/// Handlers only move bytes and wait; one network thread serves more than the workers can take.
constexpr unsigned network_threads = 1;
constexpr std::size_t requests_waiting_max = 1024;

store::Timestamp now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

unsigned analysis_threads(const Config& config) {
  return config.analysis_workers != 0 ? config.analysis_workers : std::max(1U, std::thread::hardware_concurrency());
}

Result<std::filesystem::path> program_of(const Config& config) {
  if (!config.analysis_program.empty()) return std::filesystem::path(config.analysis_program);
  return analysis::program_beside_us();
}

/// Writes a text to a new file that only we may read.
Result<void> write_secret(const std::string& path, const std::string& text) {
  const spool::OwnedFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return tl::unexpected(spool::system_error(errno, "writing the administrator's token"));
  const bool whole = ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || ::fsync(file.get()) != 0)
    return tl::unexpected(spool::system_error(errno, "writing the administrator's token"));
  return {};
}

/// The first start finds no administrator of the whole service, however many tokens of projects there are: one is made,
/// and only its place is logged. One that was revoked stays gone.
Result<void> make_first_token(store::Store& store, const Config& config) {
  TRACEWEIR_TRY(tokens, store.tokens());
  const auto is_administrator = [](const store::Token& t) { return t.scopes.admin && t.project.empty(); };
  if (std::any_of(tokens.begin(), tokens.end(), is_administrator)) return {};
  store::Token token;
  token.scopes = {true, true, true};
  token.note = "first start";
  token.created_at = now();
  TRACEWEIR_TRY(text, api::issue_token(store, token, "first start"));
  const std::string path = config.data_dir + "/admin-token";
  TRACEWEIR_TRY_VOID(write_secret(path, text + "\n"));
  log(LogLevel::info, "admin_token_written", {{"path", path}});
  return {};
}

/// What an earlier life left behind: halves of uploads, blobs that no run refers to.
Result<void> sweep(const spool::Spool& spool, const spool::BlobStore& blobs, store::Store& store) {
  TRACEWEIR_TRY(parts, spool.sweep());
  const auto is_referred_to = [&](std::string_view hash) {
    const auto used = store.blob_in_use(hash);
    return !used || *used;  // in doubt it stays
  };
  TRACEWEIR_TRY(orphans, blobs.sweep(is_referred_to));
  if (parts + orphans > 0)
    log(LogLevel::info, "swept", {{"parts", fmt::format("{}", parts)}, {"blobs", fmt::format("{}", orphans)}});
  return {};
}

/// Uploads that were acknowledged, but not judged when the process ended, are taken up again.
Result<void> resume(store::Store& store, pipeline::RunQueue& runs) {
  TRACEWEIR_TRY(unfinished, store.unfinished_runs());
  for (const store::RunRecord& run : unfinished) {
    if (run.status != store::RunStatus::analysing) continue;
    TRACEWEIR_TRY(completion, runs.submit(run.head.project, run.head.id));
    static_cast<void>(completion);
  }
  if (!unfinished.empty()) log(LogLevel::info, "resumed", {{"runs", fmt::format("{}", unfinished.size())}});
  return {};
}

void log_run_error(const std::string& run, const Error& error) {
  log(LogLevel::error, "run_failed",
      {{"run", run}, {"error", std::string(word(error.code))}, {"detail", error.message}});
}

}  // namespace

Result<void> serve(const Config& config) {
  // 1. What lasts: folders, store, what an earlier life left behind.
  TRACEWEIR_TRY_VOID(spool::make_folder(config.data_dir));
  TRACEWEIR_TRY(store, store::open_store(config.store_url(), store::Opening::service));
  TRACEWEIR_TRY(spool, spool::Spool::open(config.data_dir, config.spool));
  TRACEWEIR_TRY(blobs, spool::BlobStore::open(config.data_dir));
  TRACEWEIR_TRY_VOID(sweep(spool, blobs, *store));
  TRACEWEIR_TRY_VOID(make_first_token(*store, config));

  // 2. What works: analyses in children, behind one queue; short blocking work behind another.
  TRACEWEIR_TRY(program, program_of(config));
  analysis::Analysis analysis(program, config.analysis, config.data_dir + "/spool/scratch");
  pipeline::Workers analysts("uploads to be analysed", analysis_threads(config), config.queue_depth_max);
  pipeline::Workers workers("requests", store_threads, requests_waiting_max);
  pipeline::RunQueue runs(pipeline::Stages{analysis, blobs, *store, now}, analysts, log_run_error);

  // 3. What is seen: routes on a listener.
  api::Services services{*store, spool, blobs, workers, runs, config.api, now, spool::new_uuid};
  TRACEWEIR_TRY(endpoint, endpoint_of(config.listen));
  TRACEWEIR_TRY(listener, http::Listener::open({endpoint.address, endpoint.port, config.http,
                                                http::Router(api::routes(), services), spool::new_uuid, log_access}));
  TRACEWEIR_TRY_VOID(resume(*store, runs));
  log(LogLevel::info, "started",
      {{"version", version},
       {"listen", fmt::format("{}:{}", endpoint.address, listener.port())},
       {"data_dir", config.data_dir}});

  // 4. Until a signal: stop accepting, let requests finish, then stop the analyses that still run. Their runs stay
  //    unfinished in the store and are taken up at the next start.
  {
    const Stopper stopper([&] { listener.stop(config.stop_time_max); }, [&] { analysis.stop(); }, config.stop_time_max);
    listener.run(network_threads);
  }
  analysis.stop();
  analysts.stop();
  workers.stop();
  log(LogLevel::info, "stopped");
  return {};
}

}  // namespace traceweir::app
