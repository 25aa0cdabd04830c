// For: the street, top to bottom. The only place that knows every stage.
// Not for: HTTP (server/api), what a stage does, or which job is next (run_queue.hpp).
#pragma once

#include <functional>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/analysis/analysis.hpp"
#include "server/meters/meters.hpp"
#include "server/pipeline/early_report.hpp"
#include "server/pipeline/notice.hpp"
#include "server/spool/blob_store.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

class RecentRuns;
class Settlements;
struct Unsettled;

/// What the stages need. Everything is owned by the app and outlives the pipeline.
struct Stages {
  const analysis::Analysis& analysis;
  spool::BlobStore& blobs;
  store::Store& store;
  meters::Meters& meters;
  std::function<store::Timestamp()> now;
  OnNotice on_notice{};                ///< empty: nobody wants to know
  std::string build{};                 ///< of this service: whose verdicts are equal to the bit
  Settlements* settlements = nullptr;  ///< of runs that are judged at the same time; nullptr: each for itself
  RecentRuns* recent = nullptr;        ///< that were judged here; nullptr: nobody remembers any
};

/// How the traces of a run are read: what its uploads say, else what its policy says.
/// Errors: bad_policy.
Result<analysis::AnalysisOptions> reading_for(const store::Project& project, const store::RunHead& head);

/// Does the job of one upload of a run of several: writes how many ranks it holds, or why it is rejected.
/// `early`: a report made while the upload arrived, used where it was read the same way; nothing: the blob is read.
/// Errors: as run_pipeline: the upload stays `received` and may be taken again.
/// Thread: blocks; call it from a worker.
Result<void> upload_pipeline(const Stages& stages, const store::Job& job, EarlyReport* early = nullptr);

/// Does the job of a run, whose blobs are kept, and writes its result: judged, or rejected with the reason.
/// `early`: as above, of a run of one upload.
/// Errors: conflict: the job is in another claim by now, or its run was deleted, nothing was written; not_found: a file
///         of it is lost; store_unavailable, disk_full, io_failed, analysis_interrupted: the run stays unfinished and
///         may be taken again.
/// Thread: blocks; call it from a worker.
Result<void> run_pipeline(const Stages& stages, const store::Job& job, EarlyReport* early = nullptr);

/// Whether nothing is left to do of a settling; no: the store was away.
enum class Settled { yes, no };
/// What settles the series of runs that have their results, and tells who is to know (Settlements::Settle).
/// `stages` must outlive it.
std::function<Settled(const Unsettled& unsettled)> settling(const Stages& stages);

/// Writes that the run of the job, or its upload, is rejected for this reason. Errors: as above.
Result<void> reject(const Stages& stages, const store::Job& job, const Error& error);

}  // namespace traceweir::pipeline
