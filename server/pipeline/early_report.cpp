#include "server/pipeline/early_report.hpp"

#include <utility>

namespace traceweir::pipeline {

EarlyReport::EarlyReport(std::shared_ptr<analysis::Feed> feed, analysis::AnalysisOptions reading,
                         std::future<Result<report::Report>> report, std::shared_ptr<const void> expected)
    : feed_(std::move(feed)),
      reading_(std::move(reading)),
      report_(std::move(report)),
      expected_(std::move(expected)) {}

EarlyReport::~EarlyReport() { feed_->abandon(); }

Result<report::Report> EarlyReport::take(const std::string& sha256, const analysis::AnalysisOptions& reading) {
  const bool same = !sha256.empty() && sha256 == sha256_ && reading.window == reading_.window &&
                    reading.steps == reading_.steps && reading.skip_steps == reading_.skip_steps;
  if (!same || !report_.valid()) return fail(ErrorCode::queue_full, "no report was made while the upload arrived");
  try {
    return report_.get();
  } catch (const std::future_error&) {
    return fail(ErrorCode::queue_full, "the service is stopping");
  }
}

}  // namespace traceweir::pipeline
