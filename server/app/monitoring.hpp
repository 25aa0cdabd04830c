// For: a worker's own address for those who watch it: GET /metrics, /healthz and /readyz, answered as a service answers
// them. Not for: anything else of the API; a service, which has them on `listen` (service.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "analyzer/core/error.hpp"
#include "sandbox/sandbox.hpp"
#include "server/api/services.hpp"
#include "server/app/access.hpp"
#include "server/app/listening.hpp"
#include "server/http/router.hpp"

namespace traceweir::app {

/// What is told of. All of it outlives the Monitoring.
struct Watched {
  const Config& config;
  store::Store& store;
  const spool::Spool& spool;
  spool::BlobStore& blobs;
  pipeline::RunQueue& runs;
  meters::Meters& meters;
  sandbox::Parts sandbox;
};

/// While it lives, `worker_listen` is answered, on threads of its own. Destroying it waits for answers on their way.
class Monitoring {
 public:
  /// Null: the key is empty. Errors: bad_config (that key, or those of TLS).
  static Result<std::unique_ptr<Monitoring>> open(const Watched& watched);
  ~Monitoring();
  Monitoring(const Monitoring&) = delete;
  Monitoring& operator=(const Monitoring&) = delete;

  /// Where it listens.
  [[nodiscard]] const std::string& where() const { return listening_->where; }

 private:
  Monitoring(const Watched& watched, Access access);

  Access access_;
  pipeline::Workers crew_;
  api::Services services_;
  std::optional<Listening> listening_;
  std::unique_ptr<Periodic> renewal_;
  std::jthread thread_;
};

}  // namespace traceweir::app
