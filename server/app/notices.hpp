// For: telling of notices: in the log, and by the webhook where one is configured.
// Not for: what is worth one (server/pipeline), sending it (server/notify).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"
#include "server/meters/meters.hpp"
#include "server/notify/webhook.hpp"
#include "server/pipeline/notice.hpp"

namespace traceweir::app {

/// The webhook as it is configured, with its secret read from its file; nothing: there is none.
/// Errors: bad_config, naming the file: it cannot be read, or what is in it is too short or too long.
Result<std::optional<notify::WebhookSettings>> webhook_of(const Config& config);

/// How long a service that stops tries to send what waits.
inline constexpr std::chrono::milliseconds notices_stop_max{4'000};

/// Thread: tell() from any.
class Notices {
 public:
  /// `public_url`: what stands in front of a run's page; empty: links are paths.
  Notices(std::optional<notify::WebhookSettings> webhook, std::string public_url, meters::Meters& meters);

  void tell(const pipeline::Notice& notice);

  /// Sends what waits, for notices_stop_max at most. Call it when nobody tells any more.
  void stop();

 private:
  void told(notify::Delivery delivery, const notify::Notice& notice, const std::string& why);

  std::string public_url_, shown_;
  meters::Meters& meters_;
  std::unique_ptr<notify::Webhook> webhook_;
};

}  // namespace traceweir::app
