#include "server/api/arrival.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "server/api/body_buffer.hpp"

namespace traceweir::api {
namespace {

using Clock = std::chrono::steady_clock;

/// How long an upload may be slow at its beginning: connections have to warm up.
constexpr std::chrono::seconds grace{2};

/// The analysis beside the upload, as long as it is worth its child.
class Beside {
 public:
  Beside(Services& services, std::string project, std::optional<analysis::AnalysisOptions> reading)
      : services_(services), project_(std::move(project)), reading_(std::move(reading)) {}

  /// `piece` was written to the file.
  void grew(const spool::IncomingFile& file, std::span<const std::byte> piece) {
    if (!begun_) {
      begun_ = Clock::now();
      if (reading_ && may_be_read_early(piece)) report_ = services_.runs.begin_early(project_, file.path(), *reading_);
    }
    if (report_ == nullptr) return;
    const std::chrono::duration<double> passed = Clock::now() - *begun_;
    const double rate = static_cast<double>(file.bytes()) / std::max(passed.count(), 1e-9);
    if (passed > grace && rate < static_cast<double>(services_.limits.stream_rate_min))
      report_.reset();  // a slow upload holds no child; it is read from its file
    else
      report_->grew_to(file.bytes());
  }

  std::shared_ptr<pipeline::EarlyReport> complete() {
    if (report_ != nullptr) report_->complete();
    return std::move(report_);
  }

 private:
  Services& services_;
  std::string project_;
  std::optional<analysis::AnalysisOptions> reading_;
  std::optional<Clock::time_point> begun_;
  std::shared_ptr<pipeline::EarlyReport> report_;
};

}  // namespace

bool may_be_read_early(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with("\x1F\x8B") || text.starts_with("\x28\xB5\x2F\xFD")) return true;
  const std::string_view json = text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (json[first] == '{' || json[first] == '[');
}

boost::asio::awaitable<Result<std::shared_ptr<pipeline::EarlyReport>>> receive(
    http::Request& request, spool::IncomingFile& file, Services& services, std::string project,
    std::optional<analysis::AnalysisOptions> reading, pipeline::Allowance allowance) {
  BodyBuffer buffer;
  Beside beside(services, std::move(project), std::move(reading));
  for (;;) {
    const auto space = buffer.space();
    auto count = co_await request.body->read(space);
    if (!count) co_return tl::unexpected(std::move(count).error());
    if (*count == 0) co_return beside.complete();
    const auto piece = buffer.filled(*count);
    if (allowance.why_not_more && file.bytes() + piece.size() > static_cast<std::uint64_t>(allowance.bytes_left))
      co_return tl::unexpected(*allowance.why_not_more);
    if (auto written = file.write(piece); !written) co_return tl::unexpected(std::move(written).error());
    beside.grew(file, piece);
  }
}

}  // namespace traceweir::api
