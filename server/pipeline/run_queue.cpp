#include "server/pipeline/run_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "server/store/strikes.hpp"

namespace traceweir::pipeline {
namespace {

using std::chrono::milliseconds;

/// How often an idle process looks for jobs, and for the end of those that somebody waits for, where no bell rings.
constexpr milliseconds idle_pause{1000}, watch_pause{300};
/// Before a job is tried again that met a store that was away.
constexpr milliseconds away_pause{500};

static_assert(tries_max * store::strikes_of_a_failure == store::strikes_max);

/// Errors that are no fault of the upload and go by themselves: they count for nothing.
bool is_passing(ErrorCode code) {
  return code == ErrorCode::queue_full || code == ErrorCode::store_unavailable || code == ErrorCode::disk_full;
}

/// What trying again cannot help: the trace is gone. (A place of traces that is not ours, or away, is
/// store_unavailable.)
bool is_hopeless(ErrorCode code) { return code == ErrorCode::not_found; }

/// What operators have to tell apart, and clients do not: to the one who waits, the file is not found.
struct OperatorsWord {
  ErrorCode code;
  std::string_view word;
};
constexpr std::string_view claim_lost = "claim_lost";
constexpr OperatorsWord operators_words[] = {{ErrorCode::not_found, "blob_lost"}, {ErrorCode::conflict, claim_lost}};

/// The one word of a failed try, in the log and in /metrics.
std::string_view word_for_operators(ErrorCode code) {
  for (const OperatorsWord& row : operators_words)
    if (row.code == code) return row.word;
  return word(code);
}

/// What is written where the analysis was ended from outside each time: the reason, and that nothing is lost.
Error final_error(const Error& error) {
  if (error.code != ErrorCode::analysis_interrupted) return error;
  return {ErrorCode::analysis_failed,
          fmt::format("given up after several tries, and kept for the administrator: {}", error.message)};
}

Error poison() {
  return {ErrorCode::analysis_failed,
          "given up, and kept for the administrator: too many processes ended while they analysed it"};
}

}  // namespace

RunQueue::RunQueue(Stages stages, Workers& workers, QueueSettings settings, OnError on_error)
    : stages_(std::move(stages)),
      workers_(workers),
      settings_(std::move(settings)),
      on_error_(std::move(on_error)),
      claims_(stages_.store, settings_.process, settings_.lease) {
  stages_.settlements = &settlements_;
  stages_.recent = &recent_;
}

RunQueue::~RunQueue() { stop(); }

void RunQueue::start() {
  takes_ = true;
  bell_ = stages_.store.bell([this] {
    const std::lock_guard lock(mutex_);
    poked_ = may_wait_ = true;
    looked_ = {};  // something ended elsewhere, or began
    changed_.notify_all();
  });
  thread_ = std::thread([this] { go_round(); });
}

void RunQueue::take_no_more() {
  const std::lock_guard lock(mutex_);
  takes_ = false;
}

void RunQueue::wake_all() {
  for (const std::string& name : watchers_.watched()) watchers_.finish(name);
}

void RunQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  if (!thread_.joinable()) return;
  thread_.join();
  settlements_.settle_all(settling(stages_));  // what was left to uploads that did not come
}

Result<std::size_t> RunQueue::depth() const {
  TRACEWEIR_TRY(jobs, stages_.store.jobs());
  return jobs.size();
}

Result<void> RunQueue::check_room() const {
  TRACEWEIR_TRY(waiting, depth());
  if (waiting < settings_.depth_max) return workers_.check_room();
  return fail(ErrorCode::queue_full, fmt::format("{} uploads are waiting for their analysis or being analysed; try "
                                                 "again in a moment",
                                                 waiting));
}

// From here on: what comes in.

std::shared_ptr<EarlyReport> RunQueue::begin_early(std::string project, const std::filesystem::path& file,
                                                   const analysis::AnalysisOptions& reading) {
  if (settings_.analyses == QueueSettings::Analyses::elsewhere) return nullptr;
  auto feed = analysis::Feed::open(file);
  if (!feed) return nullptr;
  const auto promise = std::make_shared<std::promise<Result<report::Report>>>();
  const auto early = std::make_shared<EarlyReport>(
      *feed, reading, promise->get_future(), std::make_shared<Settlements::Expected>(settlements_, std::move(project)));
  const bool taken = workers_.submit_if_idle([this, feed = *feed, reading, promise] {
    try {
      promise->set_value(stages_.analysis.report_of(*feed, reading));
    } catch (const std::exception& error) {
      promise->set_value(fail(ErrorCode::internal, error.what()));
    }
  });
  return taken ? early : nullptr;
}

store::Claim RunQueue::claim_for(const std::shared_ptr<EarlyReport>& early) {
  return early == nullptr ? store::Claim{} : claims_.next();
}

std::shared_ptr<Completion> RunQueue::take(store::Job job, std::shared_ptr<EarlyReport> early) {
  auto completion = watchers_.watch(name_of(job.run, job.rank));
  submit(std::move(job), std::move(early));
  return completion;
}

void RunQueue::give_back(const store::Claim& claim) {
  if (!claim.holder.empty()) claims_.release({claim.holder});
}

void RunQueue::poke() {
  {
    const std::lock_guard lock(mutex_);
    poked_ = may_wait_ = true;
    changed_.notify_all();
  }
  if (bell_) bell_->ring();
}

/// A worker is idle again, and who waits for the job elsewhere may look. Where no job waits, nobody is asked for one.
void RunQueue::say_done() {
  {
    const std::lock_guard lock(mutex_);
    poked_ = poked_ || may_wait_;
    if (poked_) changed_.notify_all();
  }
  if (bell_) bell_->ring();
}

std::shared_ptr<Completion> RunQueue::watch(const std::string& run, std::optional<std::int64_t> rank) {
  auto completion = watchers_.watch(name_of(run, rank));
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  return completion;
}

boost::asio::awaitable<Result<report::Report>> RunQueue::look_at(const analysis::InputFile& file,
                                                                 const analysis::AnalysisOptions& reading) {
  auto reading_it = [this, &file, &reading] { return stages_.analysis.report_of(std::span(&file, 1), reading); };
  co_return co_await workers_.run(reading_it);
}

// From here on: the thread that takes jobs, renews claims and looks after those who wait.

void RunQueue::go_round() {
  for (;;) {
    try {
      look();
    } catch (const std::exception& error) {
      tell("", Error{ErrorCode::internal, error.what()});
    }
    wait();
    const std::lock_guard lock(mutex_);
    if (ended_) return;
  }
}

void RunQueue::look() {
  Result<void> done;
  if (const auto lost = claims_.look(); !lost)
    done = tl::unexpected(lost.error());
  else
    for (std::size_t i = 0; i < lost->size(); ++i) stages_.meters.run_error(claim_lost);
  if (done) done = claim();
  if (done) done = look_after_watchers();
  settle_overdue();
  const bool was_away = std::exchange(away_, !done);
  if (!done && !was_away) tell("", done.error());
}

bool RunQueue::may_claim() {
  const std::lock_guard lock(mutex_);
  const bool may = (takes_ || is_waited_for()) && may_wait_ && !ended_ &&
                   settings_.analyses == QueueSettings::Analyses::here && workers_.is_idle();
  if (may) may_wait_ = false;  // until one is found, or somebody says so
  return may;
}

/// What is done here tells those who wait for it itself.
bool RunQueue::may_look() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < watch_pause) return false;
  looked_ = now;
  return true;
}

/// Who waits is asked first: a job that was recorded after the list was read is waited for only then.
Result<void> RunQueue::look_after_watchers() {
  const std::vector<std::string> watched = watchers_.watched();
  if (watched.empty() || !may_look()) return {};
  TRACEWEIR_TRY(jobs, stages_.store.jobs());
  if (std::ssize(jobs) >= store::listed_jobs_max) return {};  // those that are not listed are not gone
  std::set<std::string> open;
  for (const store::Job& job : jobs) {
    open.insert(name_of(job.run, job.rank));
    open.insert(name_of(job.run, std::nullopt));  // a run that was closed early is judged after its uploads
  }
  {
    const std::lock_guard lock(mutex_);
    open.insert(ours_.begin(), ours_.end());  // whose row goes before all of it is done
  }
  for (const std::string& name : watched)
    if (!open.contains(name)) watchers_.finish(name);
  return {};
}

/// Where all who are on their way take long, or the store was away, somebody else settles what they left. While all
/// workers are busy it can wait: whoever ends looks, too.
void RunQueue::settle_overdue() {
  for (std::string& project : settlements_.overdue())
    workers_.submit_if_idle([this, project = std::move(project)] {
      const Settlements::Coming passing(settlements_, project, settling(stages_));
    });
}

/// Takes as many jobs as there are idle workers.
Result<void> RunQueue::claim() {
  while (may_claim()) {
    const store::Claim wanted = claims_.next();
    auto job = stages_.store.claim_job(wanted);
    if (!job) {
      give_back(wanted);  // it may have been made: an answer got lost
      return tl::unexpected(std::move(job).error());
    }
    if (!*job) return claims_.drop(wanted.holder), Result<void>{};
    {
      const std::lock_guard lock(mutex_);
      may_wait_ = true;
    }
    submit(**std::move(job), nullptr);
  }
  return {};
}

void RunQueue::wait() {
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!poked_ && !ended_) {
    const milliseconds usual = std::min(idle_pause, claims_.beat());
    const auto end = begun + (is_waited_for() ? std::min(usual, watch_pause) : usual);
    if (std::chrono::steady_clock::now() >= end) {
      may_wait_ = true;  // a pause or a lease may have ended
      break;
    }
    changed_.wait_until(lock, end);
  }
  poked_ = false;
}

// From here on: doing a job, on a worker.

void RunQueue::submit(store::Job job, std::shared_ptr<EarlyReport> early) {
  const std::string holder = job.holder, name = name_of(job.run, job.rank);
  OnItsWay coming = std::make_shared<std::optional<Settlements::Coming>>();
  coming->emplace(settlements_, job.project, settling(stages_));
  if (early) early->taken();
  const auto doing = [this, job = std::move(job), early = std::move(early), coming = std::move(coming)] {
    work(job, early.get(), *coming);
  };
  {
    const std::lock_guard lock(mutex_);
    ours_.insert(name);
  }
  if (workers_.submit(doing) == Workers::Taken::yes) return;
  {
    const std::lock_guard lock(mutex_);
    ours_.erase(name);
  }
  claims_.release({holder});
}

void RunQueue::work(const store::Job& job, EarlyReport* early, std::optional<Settlements::Coming>& coming) {
  const auto begun = std::chrono::steady_clock::now();
  Next next = Next::done;
  try {
    if (const auto done = walk(job, early); !done) next = settle(job, done.error());
  } catch (const std::exception& error) {
    next = settle(job, Error{ErrorCode::internal, error.what()});
  }
  claims_.drop(job.holder);
  coming.reset();  // before anybody is told the verdict
  {
    const std::lock_guard lock(mutex_);
    ours_.erase(name_of(job.run, job.rank));
  }
  if (!job.rank) stages_.meters.run_duration(std::chrono::steady_clock::now() - begun);
  if (next == Next::done) watchers_.finish(name_of(job.run, job.rank));
  if (job.rank)
    poke();  // the last rank has made a job of its run
  else
    say_done();
}

Result<void> RunQueue::walk(const store::Job& job, EarlyReport* early) {
  if (job.attempts - store::strikes_of_an_end >= store::strikes_max) return give_up(job, poison());
  if (!job.rank) return run_pipeline(stages_, job, early);
  return upload_pipeline(stages_, job, early);
}

void RunQueue::tell(const std::string& run, const Error& error) {
  on_error_(run, word_for_operators(error.code), error.message);
}

/// A stop of the service and a database that is away are no fault of the run: it waits. Everything else counts.
RunQueue::Next RunQueue::settle(const store::Job& job, const Error& error) {
  const std::string name = name_of(job.run, job.rank);
  tell(name, error);
  const bool is_lost = error.code == ErrorCode::conflict;  // another one has the job, or it is done
  if (!is_lost || claims_.drop(job.holder)) stages_.meters.run_error(word_for_operators(error.code));
  if (is_lost) return Next::again;
  using Attempt = store::Release::Attempt;
  if (is_passing(error.code)) {
    const bool stopping = error.code == ErrorCode::queue_full;
    claims_.release({job.holder, Attempt::uncounted, stopping ? milliseconds{0} : away_pause});
    return Next::done;
  }
  const auto strikes = job.attempts - store::strikes_of_an_end + store::strikes_of_a_failure;
  if (is_hopeless(error.code) || strikes >= store::strikes_max) {
    const auto given_up = give_up(job, final_error(error));
    if (given_up) return Next::done;
    tell(name, given_up.error());
  }
  claims_.release({job.holder, Attempt::failed, settings_.retry_pause});
  return Next::again;
}

/// Writes that the run, or the upload, is rejected for want of a service that can read it.
Result<void> RunQueue::give_up(const store::Job& job, const Error& error) { return reject(stages_, job, error); }

}  // namespace traceweir::pipeline
