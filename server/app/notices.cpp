#include "server/app/notices.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "server/app/log.hpp"
#include "server/spool/uuid.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::app {
namespace {

constexpr std::size_t secret_bytes_min = 16, secret_bytes_max = 4096;

/// The file's text without the line breaks at its end: editors add one.
Result<std::string> secret_in(const std::string& file) {
  const auto wrong = [&file](std::string_view why) {
    return fail(ErrorCode::bad_config, fmt::format("webhook_secret_file = '{}': {}", file, why));
  };
  std::ifstream in(file, std::ios::binary);
  std::string secret;
  secret.resize(secret_bytes_max + 3);
  in.read(secret.data(), static_cast<std::streamsize>(secret.size()));
  if (!in.is_open() || in.bad()) return wrong("cannot be read");
  secret.resize(static_cast<std::size_t>(in.gcount()));
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.size() < secret_bytes_min) return wrong(fmt::format("at least {} bytes were expected", secret_bytes_min));
  if (secret.size() > secret_bytes_max) return wrong(fmt::format("at most {} bytes were expected", secret_bytes_max));
  return secret;
}

notify::Notice notice_of(const pipeline::Notice& notice, const std::string& public_url) {
  const auto now = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  const bool is_drift = notice.kind == pipeline::Notice::Kind::drift;
  return {is_drift ? "drift" : "failed_run",
          notice.project,
          notice.workload,
          notice.branch,
          notice.run,
          notice.commit,
          notice.metric,
          notice.sentence,
          public_url + wire::run_page(notice.project, notice.run),
          wire::to_rfc3339(now),
          notice.observe};
}

}  // namespace

Result<std::optional<notify::WebhookSettings>> webhook_of(const Config& config) {
  if (config.webhook_url.empty()) return std::optional<notify::WebhookSettings>{};
  TRACEWEIR_TRY(address, outbound::address_of(config.webhook_url));
  TRACEWEIR_TRY(secret, secret_in(config.webhook_secret_file));
  return std::optional(notify::WebhookSettings{std::move(address), std::move(secret), config.webhook_time_max,
                                               config.webhook_pause, config.webhook_queue_max});
}

Notices::Notices(std::optional<notify::WebhookSettings> webhook, std::string public_url, meters::Meters& meters)
    : public_url_(std::move(public_url)), meters_(meters) {
  if (!webhook) return;
  shown_ = webhook->address.shown();
  webhook_ = std::make_unique<notify::Webhook>(*std::move(webhook), spool::new_uuid,
                                               [this](notify::Delivery delivery, const notify::Notice& notice,
                                                      const std::string& why) { told(delivery, notice, why); });
}

void Notices::tell(const pipeline::Notice& notice) {
  log(LogLevel::warning, "notice",
      {{"kind", std::string(word(notice.kind))},
       {"project", notice.project},
       {"workload", notice.workload},
       {"branch", notice.branch},
       {"run", notice.run},
       {"commit", notice.commit},
       {"metric", notice.metric},
       {"sentence", notice.sentence}});
  if (webhook_) webhook_->submit(notice_of(notice, public_url_));
}

void Notices::stop() {
  if (webhook_) webhook_->stop(notices_stop_max);
}

void Notices::told(notify::Delivery delivery, const notify::Notice& notice, const std::string& why) {
  meters_.notice(word(delivery));
  if (delivery == notify::Delivery::failed || delivery == notify::Delivery::dropped)
    log(LogLevel::error, fmt::format("notice_{}", word(delivery)),
        {{"run", notice.run}, {"project", notice.project}, {"to", shown_}, {"detail", why}});
}

}  // namespace traceweir::app
