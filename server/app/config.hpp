// For: everything an operator can turn, with its unit in its name and a safe default. Read once at start, then
// constant. Precedence: flag > TRACEWEIR_* > TOML file > default. One table (config.cpp) drives all four, `config
// check` and the docs test.
// Not for: values as text (config_values.hpp).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/words.hpp"
#include "server/analysis/analysis.hpp"
#include "server/api/services.hpp"
#include "server/http/limits.hpp"
#include "server/oidc/issuers.hpp"
#include "server/s3/settings.hpp"
#include "server/spool/spool.hpp"

namespace traceweir::app {

/// What a kernel without seccomp or Landlock means for the service.
enum class SandboxNeed {
  best_effort,  ///< a warning in the log and in /readyz
  required,     ///< it does not start
};

struct Config {
  std::string listen = "127.0.0.1:8080";
  std::string worker_listen;  ///< where a worker answers those who watch it; empty: nowhere
  std::string data_dir = "/var/lib/traceweir";
  std::string store;                              ///< empty: sqlite:DATA_DIR/traceweir.db
  std::string analysis_program;                   ///< empty: `traceweir` beside this program
  std::optional<unsigned> analysis_workers = 0U;  ///< analyses at a time; 0: one per core; nothing: others analyse
  std::chrono::milliseconds job_lease{10'000};    ///< after which a process that says nothing counts as dead
  std::size_t queue_depth_max = 64;
  SandboxNeed sandbox = SandboxNeed::best_effort;
  std::chrono::seconds stop_time_max{20};
  std::chrono::milliseconds resume_pause{5'000};
  std::chrono::seconds run_complete_time_max{30 * 60};
  std::string public_url;                              ///< in front of links; empty: links are paths
  std::string webhook_url, webhook_secret_file;        ///< empty: nobody is told
  std::chrono::milliseconds webhook_time_max{10'000};  ///< of one try
  std::chrono::milliseconds webhook_pause{1'000};
  std::size_t webhook_queue_max = 256;
  std::string blobs = "directory";       ///< or s3://bucket/prefix
  std::string s3_endpoint;               ///< empty: AWS's own of the region
  s3::Settings s3;                       ///< place, endpoint and credentials follow from the others (blobs.hpp)
  std::string trusted_proxies;           ///< addresses and networks; empty: nobody's word is taken for who asks
  std::string tls_certificate, tls_key;  ///< PEM files; empty: plain HTTP
  std::chrono::milliseconds tls_reload_pause{60'000};
  oidc::IssuerSettings oidc{{}, {}, oidc::PlainHttp::never, {"", std::chrono::hours{1}}, {}};

  http::HttpLimits http;
  spool::SpoolLimits spool;
  analysis::AnalysisLimits analysis;
  api::ApiLimits api;

  [[nodiscard]] std::string store_url() const;
};

/// One key: its name in the file and on the command line (`--upload-bytes-max`), in the environment
/// (`TRACEWEIR_UPLOAD_BYTES_MAX`), what it is for, and how it is set and shown.
struct ConfigKey {
  std::string_view name;
  std::string_view help;
  std::function<Result<void>(Config&, std::string_view)> set;
  std::function<std::string(const Config&)> show;
};
std::span<const ConfigKey> config_keys();

/// `TRACEWEIR_UPLOAD_BYTES_MAX` for `upload_bytes_max`.
std::string variable_of(std::string_view key);

/// Where values come from. `environment` looks up a variable.
struct ConfigSource {
  std::string file;  ///< empty: none
  std::function<std::optional<std::string>(const std::string&)> environment;
  std::map<std::string, std::string> flags;  ///< key → value, as given
};

/// Errors: bad_config, naming the key, the value and what was expected. Unknown keys in the file are errors: a typo
/// must
///         not silently keep a default.
Result<Config> load_config(const ConfigSource& source);

}  // namespace traceweir::app
