// For: the report of an upload that is still arriving, so that the verdict is ready moments after its last byte. It is
// worth nothing until the upload is durable: whoever records the run asks for it then, or lets it go.
// Not for: deciding which uploads are read so early (server/api/arrival.hpp).
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"
#include "server/analysis/analysis.hpp"
#include "server/analysis/feed.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// An analysis that runs on a worker while its upload arrives. Letting go of it ends its child.
/// `expected`: what goes when the upload is taken or let go of: until then its run is expected.
/// Thread: the receiver's functions from one thread; take() from a worker, once.
class EarlyReport {
 public:
  EarlyReport(std::shared_ptr<analysis::Feed> feed, analysis::AnalysisOptions reading,
              std::future<Result<report::Report>> report, std::shared_ptr<const void> expected = nullptr);
  EarlyReport(const EarlyReport&) = delete;
  EarlyReport& operator=(const EarlyReport&) = delete;
  ~EarlyReport();

  /// So many bytes of the upload are in its file.
  void grew_to(std::uint64_t bytes) { feed_->grew_to(bytes); }
  /// All of them are; from now on the analysis has its time.
  void complete() { feed_->complete(); }

  /// The upload is this one, kept under its hash. Before that is said, the report is nobody's. `run`: as it was just
  /// recorded, where it is the upload's alone.
  void is_of(std::string sha256, std::optional<store::RunRecord> run) {
    sha256_ = std::move(sha256);
    recorded_ = std::move(run);
  }
  [[nodiscard]] const std::optional<store::RunRecord>& recorded() const { return recorded_; }

  /// Its run is on its way.
  void taken() { expected_.reset(); }

  /// Waits for the report of the upload with this hash, read in this way; its trace has neither name nor hash yet.
  /// Errors: those of Analysis::report_of; queue_full, where it was made of another one, read otherwise, or not made.
  Result<report::Report> take(const std::string& sha256, const analysis::AnalysisOptions& reading);

 private:
  std::shared_ptr<analysis::Feed> feed_;
  analysis::AnalysisOptions reading_;
  std::string sha256_;
  std::optional<store::RunRecord> recorded_;
  std::future<Result<report::Report>> report_;
  std::shared_ptr<const void> expected_;
};

}  // namespace traceweir::pipeline
