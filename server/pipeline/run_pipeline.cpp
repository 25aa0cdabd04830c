#include "server/pipeline/run_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "gate/judge.hpp"
#include "server/hash/sha256.hpp"
#include "server/pipeline/baseline.hpp"
#include "server/pipeline/comparable.hpp"
#include "server/pipeline/policy_choice.hpp"
#include "server/store/run_group.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::pipeline {
namespace {

/// Failures that the caller's file caused: they are the run's result. All others leave the run unfinished.
bool is_result(ErrorCode code) {
  constexpr ErrorCode results[] = {ErrorCode::usage,
                                   ErrorCode::bad_query,
                                   ErrorCode::bad_body,
                                   ErrorCode::bad_policy,
                                   ErrorCode::empty_upload,
                                   ErrorCode::unknown_format,
                                   ErrorCode::not_a_trace,
                                   ErrorCode::unsupported_format,
                                   ErrorCode::malformed_trace,
                                   ErrorCode::trace_too_large,
                                   ErrorCode::analysis_timeout,
                                   ErrorCode::analysis_failed,
                                   ErrorCode::not_yet_available};
  return std::find(std::begin(results), std::end(results), code) != std::end(results);
}

gate::JudgedRun judged_run(const store::RunHead& head, const report::Report& report) {
  gate::JudgedRun run;
  run.id = head.id;
  for (const metrics::RunMeasurement& measured : report.measurements)
    run.measurements.push_back(metrics::in_base_unit(measured.mean));
  run.findings = report.findings;
  for (const report::RankReport& rank : report.ranks)
    run.findings.insert(run.findings.end(), rank.findings.begin(), rank.findings.end());
  run.ranks_present = static_cast<std::int64_t>(report.ranks.size());
  run.ranks_expected = head.ranks_expected == 0 ? run.ranks_present : head.ranks_expected;
  return run;
}

/// The runs that are judged together, and what the verdict is to say of that.
struct Samples {
  std::vector<gate::JudgedRun> runs;  ///< oldest first, the new one last
  std::vector<std::string> notes;
};

/// A higher attempt of the same job that has its verdict or may still get one; nullptr: this is the highest.
const store::RunRecord* higher_attempt(const std::vector<store::RunRecord>& records, const store::RunHead& head) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const store::RunRecord& record) {
    return record.status != store::RunStatus::rejected && store::supersedes(record.head, head);
  });
  return found == records.end() ? nullptr : &*found;
}

/// The commit's runs of this workload and class that count as samples. An attempt that comes after a higher one of its
/// job is judged alone: it must neither change what the higher one says nor lean on it.
Result<Samples> samples_of(store::Store& store, const store::RunHead& head, const report::Report& report,
                           const std::string& key) {
  TRACEWEIR_TRY(records, store.runs_of_commit(head.project, head.workload, head.commit));
  if (const store::RunRecord* higher = higher_attempt(records, head))
    return Samples{{judged_run(head, report)},
                   {fmt::format("attempt {} of this job came before this attempt {}: judged alone; run {} takes its "
                                "place (superseded) once it is judged",
                                higher->head.attempt, head.attempt, higher->head.id)}};
  Samples samples;
  for (const store::RunRecord& record : records) {
    const bool counts = record.head.id != head.id && record.status == store::RunStatus::judged &&
                        record.comparable_key == key && !record.superseded && !store::supersedes(head, record.head);
    if (!counts) continue;
    TRACEWEIR_TRY(earlier, report::from_json(record.report_json));
    samples.runs.push_back(judged_run(record.head, earlier));
  }
  samples.runs.push_back(judged_run(head, report));
  return samples;
}

bool may_be_baseline(const gate::Verdict& verdict, gate::Baseline::Place place) {
  const auto spoils = [](const gate::RuleResult& rule) {
    return rule.reason == gate::Reason::data_loss || rule.reason == gate::Reason::missing_rank ||
           rule.reason == gate::Reason::untrusted_data;
  };
  return place == gate::Baseline::Place::baseline_branch && verdict.outcome != gate::Outcome::fail &&
         std::none_of(verdict.rules.begin(), verdict.rules.end(), spoils);
}

/// The verdict as it is stored and answered, with what makes it replayable.
std::string document_of(gate::Verdict verdict, const ChosenPolicy& chosen, const store::Project& project) {
  verdict.notes.insert(verdict.notes.end(), chosen.notes.begin(), chosen.notes.end());
  return wire::to_json(wire::VerdictDocument{std::move(verdict), std::string(store::word(project.mode)), chosen.source,
                                             hash::sha256_hex(chosen.policy.text)});
}

std::vector<std::pair<std::string, double>> values_of(const report::Report& report) {
  std::vector<std::pair<std::string, double>> values;
  for (const metrics::RunMeasurement& measured : report.measurements) {
    const metrics::Measurement based = metrics::in_base_unit(measured.mean);
    if (based.value) values.emplace_back(based.metric, as_double(*based.value));
  }
  return values;
}

analysis::AnalysisOptions reading_of(const store::RunHead& head, const gate::Policy& policy) {
  analysis::AnalysisOptions options;
  options.window = head.window.empty() ? policy.trace.window : std::optional(head.window);
  options.steps = head.steps_glob.empty() ? policy.trace.steps : std::optional(head.steps_glob);
  options.skip_steps = head.skip_steps ? head.skip_steps : policy.trace.skip_steps;
  return options;
}

/// A file that was acknowledged and is not there any more is a loss that somebody must look into.
Result<analysis::InputFile> file_of(const Stages& stages, const store::Upload& upload) {
  const auto blob = stages.blobs.path_of(upload.sha256);
  if (blob) return analysis::InputFile{*blob, upload.name, upload.sha256};
  if (blob.error().code == ErrorCode::not_found) stages.meters.run_error("blob_lost");
  return fail(blob.error().code, fmt::format("blob lost: the file of rank {} (SHA-256 {}): {}", upload.rank,
                                             upload.sha256, blob.error().message));
}

/// The whole files of the run, in the order of their ranks. Without any there is nothing to judge: why the last one
/// was rejected is then the run's reason, too.
Result<std::vector<analysis::InputFile>> files_of(const Stages& stages, const store::RunRecord& run) {
  std::vector<analysis::InputFile> files;
  for (const store::Upload& upload : run.uploads) {
    if (upload.status != store::UploadStatus::whole) continue;
    TRACEWEIR_TRY(file, file_of(stages, upload));
    files.push_back(std::move(file));
  }
  if (!files.empty()) return files;
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
Result<store::RunResult> walk(const Stages& stages, const store::Project& project, const store::RunRecord& run,
                              EarlyReport* early) {
  TRACEWEIR_TRY(chosen, choose_policy(project, run.head));
  TRACEWEIR_TRY(files, files_of(stages, run));
  TRACEWEIR_TRY(report, report_of(stages, files, reading_of(run.head, chosen.policy), early));
  TRACEWEIR_TRY_VOID(check_count(run.head, report));
  // From here on nobody opens the uploads again, and nobody asks which format it was.

  const std::string key = comparable_key(report, run.head.environment, chosen.policy.environment_match);
  TRACEWEIR_TRY(baseline, baseline_for(stages.store, run.head, chosen.policy, key));
  TRACEWEIR_TRY(samples, samples_of(stages.store, run.head, report, key));
  gate::Verdict verdict = gate::judge(samples.runs, baseline, chosen.policy);
  verdict.notes.insert(verdict.notes.end(), samples.notes.begin(), samples.notes.end());
  // From here on nothing is decided any more; the rest records.

  store::RunResult result;
  result.status = store::RunStatus::judged;
  result.outcome = verdict.outcome;
  result.report_json = report::to_json(report);
  result.verdict_json = document_of(verdict, chosen, project);
  result.comparable_key = key;
  result.in_baseline = may_be_baseline(verdict, baseline.place);
  result.values = values_of(report);
  return result;
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
  TRACEWEIR_TRY(file, file_of(stages, upload));
  TRACEWEIR_TRY(report, report_of(stages, std::span(&file, 1), reading_of(run.head, chosen.policy), early));
  return store::UploadResult{run.head.id, upload.rank, upload.sha256,    std::ssize(report.ranks),
                             "",          "",          stated_in(report)};
}

store::RunResult rejected(const Error& error) {
  store::RunResult result;
  result.status = store::RunStatus::rejected;
  result.error_code = word(error.code);
  result.error_message = error.message;
  return result;
}

/// Records a result, and counts it once it is recorded.
Result<void> finish(const Stages& stages, const store::RunResult& result) {
  TRACEWEIR_TRY_VOID(stages.store.finish_run(result));
  stages.meters.run(result.outcome ? gate::word(*result.outcome) : store::word(result.status));
  return {};
}

}  // namespace

Result<store::RunStatus> upload_pipeline(const Stages& stages, const std::string& project_name,
                                         const std::string& run_id, std::int64_t rank, EarlyReport* early) {
  TRACEWEIR_TRY(project, stages.store.project(project_name));
  TRACEWEIR_TRY(run, stages.store.run(project_name, run_id));
  if (!project || !run) return fail(ErrorCode::not_found, "the run is gone");
  const store::Upload* upload = received_upload(*run, rank);
  if (upload == nullptr) return run->status;
  const auto ranks = ranks_in(stages, *project, *run, *upload, early);
  if (!ranks && !is_result(ranks.error().code)) return tl::unexpected(ranks.error());
  return stages.store.settle_upload(ranks ? *ranks : rejected(*run, *upload, ranks.error()));
}

Result<analysis::AnalysisOptions> reading_for(const store::Project& project, const store::RunHead& head) {
  TRACEWEIR_TRY(chosen, choose_policy(project, head));
  return reading_of(head, chosen.policy);
}

Result<void> run_pipeline(const Stages& stages, const std::string& project_name, const std::string& run_id,
                          EarlyReport* early) {
  TRACEWEIR_TRY(project, stages.store.project(project_name));
  TRACEWEIR_TRY(run, stages.store.run(project_name, run_id));
  if (!project || !run || run->uploads.empty()) return fail(ErrorCode::not_found, "the run is gone");
  auto result = walk(stages, *project, *run, early);
  if (!result && !is_result(result.error().code)) return tl::unexpected(std::move(result).error());
  store::RunResult record = result ? *std::move(result) : rejected(result.error());
  record.run = run_id;
  record.finished_at = stages.now();
  return finish(stages, record);
}

std::string RunQueue::Job::name() const { return rank ? fmt::format("{} rank {}", run, *rank) : run; }

RunQueue::RunQueue(Stages stages, Workers& workers, OnError on_error)
    : stages_(std::move(stages)), workers_(workers), on_error_(std::move(on_error)) {}

std::shared_ptr<Completion> RunQueue::submit(const std::string& project, const std::string& run,
                                             std::shared_ptr<EarlyReport> early) {
  return put({project, run, std::nullopt, std::move(early)});
}

std::shared_ptr<Completion> RunQueue::submit_upload(const std::string& project, const std::string& run,
                                                    std::int64_t rank, std::shared_ptr<EarlyReport> early) {
  return put({project, run, rank, std::move(early)});
}

std::shared_ptr<EarlyReport> RunQueue::begin_early(const std::filesystem::path& file,
                                                   const analysis::AnalysisOptions& reading) {
  auto feed = analysis::Feed::open(file);
  if (!feed) return nullptr;
  const auto promise = std::make_shared<std::promise<Result<report::Report>>>();
  const auto early = std::make_shared<EarlyReport>(*feed, reading, promise->get_future());
  const bool taken = workers_.submit_if_idle([this, feed = *feed, reading, promise] {
    try {
      promise->set_value(stages_.analysis.report_of(*feed, reading));
    } catch (const std::exception& error) {
      promise->set_value(fail(ErrorCode::internal, error.what()));
    }
  });
  return taken ? early : nullptr;
}

std::shared_ptr<Completion> RunQueue::put(Job job) {
  const std::lock_guard lock(mutex_);
  if (const auto it = on_their_way_.find(job.name()); it != on_their_way_.end()) return it->second;
  const auto completion = std::make_shared<Completion>();
  on_their_way_.emplace(job.name(), completion);
  workers_.submit([this, job = std::move(job)] { take(job); });
  return completion;
}

/// A stop of the service and a database that is away are no fault of the run: it waits. Everything else counts.
void RunQueue::settle(const Job& job, const Error& error) {
  on_error_(job.name(), error);
  stages_.meters.run_error(word(error.code));
  if (error.code == ErrorCode::queue_full || error.code == ErrorCode::store_unavailable) return;
  const bool hopeless = error.code == ErrorCode::internal || error.code == ErrorCode::not_found;
  {
    const std::lock_guard lock(mutex_);
    if (++failures_[job.name()] < tries_max && !hopeless) return;
    failures_.erase(job.name());
  }
  if (const auto done = give_up(job, error); !done) on_error_(job.name(), done.error());
}

/// Writes that the run, or the upload, is rejected for want of a service that can read it.
Result<void> RunQueue::give_up(const Job& job, const Error& error) {
  if (!job.rank) {
    store::RunResult result = rejected(error);
    result.run = job.run;
    result.finished_at = stages_.now();
    return finish(stages_, result);
  }
  TRACEWEIR_TRY(run, stages_.store.run(job.project, job.run));
  const store::Upload* upload = run ? received_upload(*run, *job.rank) : nullptr;
  if (upload == nullptr) return {};
  TRACEWEIR_TRY(status, stages_.store.settle_upload(rejected(*run, *upload, error)));
  if (status == store::RunStatus::analysing) submit(job.project, job.run);
  return {};
}

Result<void> RunQueue::walk(const Job& job) {
  if (!job.rank) return run_pipeline(stages_, job.project, job.run, job.early.get());
  TRACEWEIR_TRY(status, upload_pipeline(stages_, job.project, job.run, *job.rank, job.early.get()));
  if (status == store::RunStatus::analysing) submit(job.project, job.run);
  return {};
}

void RunQueue::take(const Job& job) {
  const auto begun = std::chrono::steady_clock::now();
  try {
    if (const auto done = walk(job); !done) settle(job, done.error());
  } catch (const std::exception& error) {
    settle(job, Error{ErrorCode::internal, error.what()});
  }
  if (!job.rank) stages_.meters.run_duration(std::chrono::steady_clock::now() - begun);
  std::shared_ptr<Completion> completion;
  {
    const std::lock_guard lock(mutex_);
    completion = std::move(on_their_way_.at(job.name()));
    on_their_way_.erase(job.name());
  }
  completion->finish();
}

}  // namespace traceweir::pipeline
