#include "server/pipeline/run_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "server/pipeline/judged_result.hpp"
#include "server/pipeline/policy_choice.hpp"
#include "server/pipeline/settlements.hpp"

namespace traceweir::pipeline {
namespace {

/// How often a run is judged again because another one of its commit was finished in between.
constexpr int rounds_max = 100;

/// Failures that the caller's file caused: they are the run's result. All others leave the run unfinished.
bool is_result(ErrorCode code) {
  constexpr ErrorCode results[] = {
      ErrorCode::usage,           ErrorCode::bad_query,          ErrorCode::bad_body,
      ErrorCode::bad_policy,      ErrorCode::empty_upload,       ErrorCode::unknown_format,
      ErrorCode::not_a_trace,     ErrorCode::unsupported_format, ErrorCode::malformed_trace,
      ErrorCode::trace_too_large, ErrorCode::analysis_timeout,   ErrorCode::analysis_failed};
  return std::find(std::begin(results), std::end(results), code) != std::end(results);
}

analysis::AnalysisOptions reading_of(const store::RunHead& head, const gate::Policy& policy) {
  analysis::AnalysisOptions options;
  options.window = head.window.empty() ? policy.trace.window : std::optional(head.window);
  options.steps = head.steps_glob.empty() ? policy.trace.steps : std::optional(head.steps_glob);
  options.skip_steps = head.skip_steps ? head.skip_steps : policy.trace.skip_steps;
  return options;
}

/// A file that was acknowledged and is not there any more is a loss that somebody must look into: not_found here, and
/// nowhere else on the street, is what the queue tells operators as blob_lost.
Result<spool::LocalBlob> blob_of(const Stages& stages, const store::Upload& upload) {
  auto blob = stages.blobs.fetch(upload.sha256);
  // A place elsewhere that cannot be reached now has lost nothing.
  if (blob || blob.error().code == ErrorCode::store_unavailable) return blob;
  return fail(blob.error().code, fmt::format("blob lost: the file of rank {} (SHA-256 {}): {}", upload.rank,
                                             upload.sha256, blob.error().message));
}

/// Files to be analysed, and the blobs that they are: the files are there while the blobs live.
struct LocalFiles {
  std::vector<spool::LocalBlob> blobs;
  std::vector<analysis::InputFile> files;
};

/// Errors: as of blob_of().
Result<void> add(LocalFiles& local, const Stages& stages, const store::Upload& upload) {
  TRACEWEIR_TRY(blob, blob_of(stages, upload));
  local.files.push_back({blob.path(), upload.name, upload.sha256});
  local.blobs.push_back(std::move(blob));
  return {};
}

/// The whole files of the run, in the order of their ranks. Without any there is nothing to judge: why the last one
/// was rejected is then the run's reason, too.
Result<LocalFiles> files_of(const Stages& stages, const store::RunRecord& run) {
  LocalFiles local;
  for (const store::Upload& upload : run.uploads) {
    if (upload.status != store::UploadStatus::whole) continue;
    TRACEWEIR_TRY_VOID(add(local, stages, upload));
  }
  if (!local.files.empty()) return local;
  const store::Upload& last = run.uploads.back();
  return fail(error_code_of(last.error_code).value_or(ErrorCode::analysis_failed),
              fmt::format("no rank of the run could be used; rank {}: {}", last.rank, last.error_message));
}

/// More ranks than the uploader knows of would be judged as if they were the run's.
Result<void> check_count(const store::RunHead& head, const report::Report& report) {
  const std::int64_t ranks = std::ssize(report.ranks);
  if (head.ranks_expected == 0 || ranks <= head.ranks_expected) return {};
  return fail(ErrorCode::bad_query,
              fmt::format("ranks: the run has {} by the query, and {} in the file", head.ranks_expected, ranks));
}

/// The report of these files: the one made while the only one of them arrived, else of what lies in them.
Result<report::Report> report_of(const Stages& stages, std::span<const analysis::InputFile> files,
                                 const analysis::AnalysisOptions& reading, EarlyReport* early) {
  if (early != nullptr && files.size() == 1) {
    auto report = early->take(files.front().sha256, reading);
    if (report) analysis::name_traces(*report, files);
    if (report || is_result(report.error().code)) return report;
  }
  return stages.analysis.report_of(files, reading);
}

/// The stages. Each arrow is a function: previous value in, next value out.
Result<Measured> measure(const Stages& stages, const store::Project& project, const store::RunRecord& run,
                         EarlyReport* early) {
  TRACEWEIR_TRY(chosen, choose_policy(project, run.head));
  TRACEWEIR_TRY(local, files_of(stages, run));
  TRACEWEIR_TRY(report, report_of(stages, local.files, reading_of(run.head, chosen.policy), early));
  TRACEWEIR_TRY_VOID(check_count(run.head, report));
  // From here on nobody opens the uploads again, and nobody asks which format it was.

  return Measured{std::move(chosen), std::move(report)};
}

/// The upload of this rank, as long as it waits for its analysis.
const store::Upload* received_upload(const store::RunRecord& run, std::int64_t rank) {
  const auto found = std::find_if(run.uploads.begin(), run.uploads.end(), [rank](const store::Upload& upload) {
    return upload.rank == rank && upload.status == store::UploadStatus::received;
  });
  return found == run.uploads.end() ? nullptr : &*found;
}

store::UploadResult rejected(const store::RunRecord& run, const store::Upload& upload, const Error& error) {
  return {run.head.id, upload.rank, upload.sha256, 0, std::string(word(error.code)), error.message, {}};
}

/// The ranks that the traces state themselves: one that does not is numbered from 0 on and knows of no world.
std::vector<std::int64_t> stated_in(const report::Report& report) {
  std::vector<std::int64_t> stated;
  for (const report::RankReport& rank : report.ranks)
    if (rank.world_size > 0 || (report.ranks.size() == 1 && rank.rank > 0)) stated.push_back(rank.rank);
  return stated;
}

/// Which ranks the upload holds: what the run's own analysis will find again.
Result<store::UploadResult> ranks_in(const Stages& stages, const store::Project& project, const store::RunRecord& run,
                                     const store::Upload& upload, EarlyReport* early) {
  TRACEWEIR_TRY(chosen, choose_policy(project, run.head));
  LocalFiles local;
  TRACEWEIR_TRY_VOID(add(local, stages, upload));
  TRACEWEIR_TRY(report, report_of(stages, local.files, reading_of(run.head, chosen.policy), early));
  return store::UploadResult{run.head.id, upload.rank, upload.sha256,     std::ssize(report.ranks),
                             "",          "",          stated_in(report), ""};
}

store::RunResult rejected(const Error& error) {
  store::RunResult result;
  result.status = store::RunStatus::rejected;
  result.error_code = word(error.code);
  result.error_message = error.message;
  return result;
}

/// Records what an upload holds.
Result<void> settle(const Stages& stages, const store::Job& job, store::UploadResult result) {
  result.holder = job.holder;
  const auto status = stages.store.settle_upload(result);
  return status ? Result<void>{} : tl::unexpected(status.error());
}

/// What was found of the run as the store keeps it: a verdict, or why there can be none.
Result<Walked> result_of(const Stages& stages, const store::Project& project, const store::RunRecord& run,
                         const Result<Measured>& measured) {
  auto walked = measured ? judge(stages, project, run, *measured) : Result<Walked>(tl::unexpected(measured.error()));
  if (!walked && !is_result(walked.error().code)) return walked;
  if (!walked) {
    walked = Walked{rejected(walked.error()), {}, std::nullopt};
    walked->result.finished_at = stages.now();
  }
  walked->result.run = run.head.id;
  return walked;
}

/// Whether the store refused the result because another run of the commit got its verdict meanwhile.
Result<bool> is_overtaken(const Stages& stages, const store::RunHead& head, const store::RunResult& result,
                          const Error& error) {
  if (error.code != ErrorCode::conflict || !result.beside) return false;
  TRACEWEIR_TRY(now, beside_of(stages.store, head));
  return now.runs != *result.beside;
}

void tell(const Stages& stages, const store::Project& project, std::vector<Notice>& notices) {
  if (!stages.on_notice) return;
  for (Notice& notice : notices) {
    notice.observe = project.mode == store::Mode::observe;
    stages.on_notice(notice);
  }
}

Settled settle_and_tell(const Stages& stages, const Unsettled& due) {
  try {
    auto drifts = settle_series(stages, due);
    if (drifts)
      tell(stages, due.project, *drifts);
    else
      stages.meters.run_error(word(drifts.error().code));
    return !drifts && drifts.error().code == ErrorCode::store_unavailable ? Settled::no : Settled::yes;
  } catch (const std::exception&) {
    stages.meters.run_error(word(ErrorCode::internal));  // the runs have their results: only notes are missing
    return Settled::yes;
  }
}

/// The run as it was recorded here a moment ago, or as the store has it.
Result<std::optional<store::RunRecord>> run_of(const Stages& stages, const store::Job& job, EarlyReport* early) {
  if (early != nullptr && early->recorded()) return early->recorded();
  return stages.store.run(job.project, job.run);
}

/// Records a result, and counts it once it is recorded.
Result<void> finish(const Stages& stages, const store::RunResult& result) {
  TRACEWEIR_TRY_VOID(stages.store.finish_run(result));
  stages.meters.run(result.outcome ? gate::word(*result.outcome) : store::word(result.status));
  return {};
}

}  // namespace

Result<void> upload_pipeline(const Stages& stages, const store::Job& job, EarlyReport* early) {
  TRACEWEIR_TRY(project, stages.store.project(job.project));
  TRACEWEIR_TRY(run, stages.store.run(job.project, job.run));
  if (!project || !run) return fail(ErrorCode::conflict, "the run is gone");
  const store::Upload* upload = received_upload(*run, *job.rank);
  if (upload == nullptr) return fail(ErrorCode::conflict, "the upload was looked at already");
  const auto ranks = ranks_in(stages, *project, *run, *upload, early);
  if (!ranks && !is_result(ranks.error().code)) return tl::unexpected(ranks.error());
  return settle(stages, job, ranks ? *ranks : rejected(*run, *upload, ranks.error()));
}

Result<analysis::AnalysisOptions> reading_for(const store::Project& project, const store::RunHead& head) {
  TRACEWEIR_TRY(chosen, choose_policy(project, head));
  return reading_of(head, chosen.policy);
}

std::function<Settled(const Unsettled& unsettled)> settling(const Stages& stages) {
  return [&stages](const Unsettled& due) { return settle_and_tell(stages, due); };
}

Result<void> run_pipeline(const Stages& stages, const store::Job& job, EarlyReport* early) {
  TRACEWEIR_TRY(project, stages.store.project(job.project));
  TRACEWEIR_TRY(run, run_of(stages, job, early));
  if (!project || !run || run->uploads.empty()) return fail(ErrorCode::conflict, "the run is gone");
  Settlements alone;
  Settlements& settlements = stages.settlements == nullptr ? alone : *stages.settlements;
  Settlements::Coming coming(settlements, job.project, settling(stages));
  auto measured = measure(stages, *project, *run, early);
  for (int round = 1;; ++round) {
    const auto begun = std::chrono::steady_clock::now();
    TRACEWEIR_TRY(walked, result_of(stages, *project, *run, measured));
    walked.result.holder = job.holder;
    const auto done = finish(stages, walked.result);
    if (done) {
      tell(stages, *project, walked.notices);
      if (walked.judged && stages.recent != nullptr)
        stages.recent->add({run->head, walked.result.comparable_key, measured->report},
                           walked.result.report_json.size());
      if (walked.judged && walked.result.in_series)
        coming.add(unsettled(*project, {run->head.id, begun, std::chrono::steady_clock::now()}, run->head,
                             *std::move(measured), std::move(walked)));
      return {};
    }
    // Every round that is lost is one that another run of the commit has won.
    TRACEWEIR_TRY(overtaken, is_overtaken(stages, run->head, walked.result, done.error()));
    if (!overtaken || round == rounds_max) return done;
  }
}

Result<void> reject(const Stages& stages, const store::Job& job, const Error& error) {
  if (!job.rank) {
    store::RunResult result = rejected(error);
    result.run = job.run;
    result.holder = job.holder;
    result.finished_at = stages.now();
    return finish(stages, result);
  }
  TRACEWEIR_TRY(run, stages.store.run(job.project, job.run));
  const store::Upload* upload = run ? received_upload(*run, *job.rank) : nullptr;
  return upload == nullptr ? Result<void>{} : settle(stages, job, rejected(*run, *upload, error));
}

}  // namespace traceweir::pipeline
