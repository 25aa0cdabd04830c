#include "server/app/config.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cctype>

#include "server/app/config_keys.hpp"
#include "server/app/config_values.hpp"
#include "server/app/endpoint.hpp"
#include "server/outbound/address.hpp"
#include "server/store/store.hpp"
#include "server/store/url.hpp"

namespace traceweir::app {
namespace {

constexpr Word<SandboxNeed> sandbox_words[] = {{SandboxNeed::best_effort, "best_effort"},
                                               {SandboxNeed::required, "required"}};

ConfigKey sandbox_key() {
  return {"sandbox", "best_effort, or required: no start without seccomp and Landlock",
          [](Config& config, std::string_view text) -> Result<void> {
            const auto need = value_of(sandbox_words, text);
            if (!need) return fail(ErrorCode::bad_config, "best_effort or required was expected");
            config.sandbox = *need;
            return {};
          },
          [](const Config& config) { return std::string(word_of(sandbox_words, config.sandbox)); }};
}

constexpr std::string_view nobody = "none";

/// A number, or the word for a service that leaves analyses to others.
ConfigKey analysis_workers_key() {
  return {"analysis_workers", "analyses at a time; 0: one per core; none: other processes analyse",
          [](Config& config, std::string_view text) -> Result<void> {
            if (text == nobody) return config.analysis_workers.reset(), Result<void>{};
            TRACEWEIR_TRY(value, parse_count(text, 0, 1'024));
            config.analysis_workers = static_cast<unsigned>(value);
            return {};
          },
          [](const Config& config) {
            return config.analysis_workers ? fmt::format("{}", *config.analysis_workers) : std::string(nobody);
          }};
}

/// Shown without its password.
ConfigKey store_key() {
  return {"store", "sqlite:PATH or postgresql://USER@HOST/DATABASE; default sqlite:DATA_DIR/traceweir.db",
          [](Config& config, std::string_view text) -> Result<void> {
            if (!text.empty()) TRACEWEIR_TRY_VOID(store::check_url(text));
            config.store = text;
            return {};
          },
          [](const Config& config) { return store::shown_url(config.store); }};
}

/// A webhook's path is often a secret, so only its host is shown.
ConfigKey webhook_key() {
  return {"webhook_url", "http:// or https:// URL that is told of failing runs of the baseline branch and of drift",
          [](Config& config, std::string_view text) -> Result<void> {
            if (!text.empty()) TRACEWEIR_TRY_VOID(outbound::address_of(text));
            config.webhook_url = text;
            return {};
          },
          [](const Config& config) {
            const auto address = outbound::address_of(config.webhook_url);
            return address ? address->shown() : std::string();
          }};
}

ConfigKey public_url_key() {
  return {"public_url", "where people reach the service, for links in notices; empty: links are paths",
          [](Config& config, std::string_view text) -> Result<void> {
            if (!text.empty()) TRACEWEIR_TRY_VOID(outbound::address_of(text));
            while (text.ends_with('/')) text.remove_suffix(1);
            config.public_url = text;
            return {};
          },
          [](const Config& config) { return config.public_url; }};
}

/// The keys of what is told to others.
std::vector<ConfigKey> notice_keys() {
  return {
      public_url_key(),
      webhook_key(),
      text_key(
          "webhook_secret_file", "file with the secret that notices are signed with, at least 16 bytes",
          [](Config & c) -> auto& { return c.webhook_secret_file; }),
      time_key(
          "webhook_time_max", "one try to send a notice", [](Config & c) -> auto& { return c.webhook_time_max; },
          Zero::refused),
      time_key(
          "webhook_pause", "before the second of five tries; doubled before each further one",
          [](Config & c) -> auto& { return c.webhook_pause; }),
      count_key(
          "webhook_queue_max", "notices that wait; further ones are dropped", 1,
          [](Config & c) -> auto& { return c.webhook_queue_max; }),
  };
}

/// The keys of the service itself. The lambdas name the field; the makers above know how to read and show it (of a
/// copy: a field is named once, as something that can be set).
std::vector<ConfigKey> service_keys() {
  return {
      checked_key(
          "listen", "address and port to serve on", &endpoint_of, [](Config & c) -> auto& { return c.listen; }),
      checked_key(
          "worker_listen", "address and port on which a worker answers /metrics, /healthz and /readyz; empty: none",
          &if_any<&endpoint_of>, [](Config & c) -> auto& { return c.worker_listen; }),
      text_key(
          "data_dir", "folder of spool, blobs and the default store", [](Config & c) -> auto& { return c.data_dir; }),
      store_key(),
      text_key(
          "analysis_program", "the traceweir program; default: beside traceweird",
          [](Config & c) -> auto& { return c.analysis_program; }),
      analysis_workers_key(),
      time_key(
          "job_lease", "how long a process that says nothing keeps an upload that it analyses",
          [](Config & c) -> auto& { return c.job_lease; }, Zero::refused),
      count_key(
          "queue_depth_max", "uploads that wait or are analysed, by all processes; one more is answered 503", 1,
          [](Config & c) -> auto& { return c.queue_depth_max; }, store::listed_jobs_max),
      time_key(
          "stop_time_max", "how long requests may still run after SIGTERM",
          [](Config & c) -> auto& { return c.stop_time_max; }),
      time_key(
          "run_complete_time_max", "how long a run waits for its ranks, from the first one on",
          [](Config & c) -> auto& { return c.run_complete_time_max; }, Zero::refused),
      time_key(
          "resume_pause",
          "before an analysis that a fault of ours ended is tried again; how often overdue runs are closed",
          [](Config & c) -> auto& { return c.resume_pause; }, Zero::refused),
      bytes_key(
          "upload_bytes_max", "size of one upload, as sent",
          [](Config & c) -> auto& { return c.spool.upload_bytes_max; }, Zero::refused),
      bytes_key(
          "disk_headroom_bytes", "disk space that uploads leave free",
          [](Config & c) -> auto& { return c.spool.disk_headroom_bytes; }),
      count_key(
          "history_points_max", "points in one answer of history", 1,
          [](Config & c) -> auto& { return c.api.history_points_max; }),
      count_key(
          "backtest_runs_max", "runs that a backtest looks at", 1,
          [](Config & c) -> auto& { return c.api.backtest_runs_max; }),
      bytes_key(
          "stream_rate_min", "bytes per second from which JSON is analysed while it arrives",
          [](Config & c) -> auto& { return c.api.stream_rate_min; }),
      bytes_key(
          "small_body_bytes_max", "a body that is no trace: a policy, settings",
          [](Config & c) -> auto& { return c.api.small_body_bytes_max; }, Zero::refused),
      time_key(
          "wait_default", "how long an upload waits for its verdict",
          [](Config & c) -> auto& { return c.api.wait_default; }),
  };
}

/// The keys of one analysis.
std::vector<ConfigKey> analysis_keys() {
  return {
      time_key(
          "analysis_time_max", "CPU time and wall time of one analysis",
          [](Config & c) -> auto& { return c.analysis.analysis_time_max; }, Zero::refused),
      bytes_key(
          "analysis_memory_max", "address space of one analysis; 0 B: no limit",
          [](Config & c) -> auto& { return c.analysis.analysis_memory_max; }),
      bytes_key(
          "scratch_bytes_max", "one file that an analysis unpacks",
          [](Config & c) -> auto& { return c.analysis.scratch_bytes_max; }, Zero::refused),
      bytes_key(
          "inflated_bytes_max", "a trace after decompression",
          [](Config & c) -> auto& { return c.analysis.inflated_bytes_max; }, Zero::refused),
      count_key(
          "inflate_ratio_max", "unpacked bytes per packed one", 1,
          [](Config & c) -> auto& { return c.analysis.inflate_ratio_max; }),
      sandbox_key(),
  };
}

/// The keys of its connections.
std::vector<ConfigKey> connection_keys() {
  return {
      bytes_key(
          "header_bytes_max", "request line and headers", [](Config & c) -> auto& { return c.http.header_bytes_max; },
          Zero::refused),
      count_key(
          "header_count_max", "headers of a request", 1, [](Config & c) -> auto& { return c.http.header_count_max; }),
      time_key(
          "header_time_max", "from a request's first byte to its empty line",
          [](Config & c) -> auto& { return c.http.header_time_max; }, Zero::refused),
      bytes_key(
          "body_rate_min", "bytes per second below which a sender is dropped",
          [](Config & c) -> auto& { return c.http.body_rate_min; }),
      time_key(
          "body_grace", "over which a sender's rate is averaged", [](Config & c) -> auto& { return c.http.body_grace; },
          Zero::refused),
      time_key(
          "idle_time_max", "between requests of a connection", [](Config & c) -> auto& { return c.http.idle_time_max; },
          Zero::refused),
      count_key(
          "connections_max", "open connections", 1, [](Config & c) -> auto& { return c.http.connections_max; }),
  };
}

std::vector<ConfigKey> make_keys() {
  std::vector<ConfigKey> keys = service_keys();
  for (ConfigKey key : kept_keys()) keys.push_back(std::move(key));
  for (ConfigKey key : notice_keys()) keys.push_back(std::move(key));
  for (ConfigKey key : analysis_keys()) keys.push_back(std::move(key));
  for (ConfigKey key : connection_keys()) keys.push_back(std::move(key));
  for (ConfigKey key : access_keys()) keys.push_back(std::move(key));
  return keys;
}

Error about(std::string_view where, std::string_view key, std::string_view value, const Error& error) {
  // Why: what is wrong with such an address may be its secret.
  const auto is = [key](std::string_view name) { return key == name || key == variable_of(name); };
  if (is("store") || is("webhook_url") || is("blobs") || is("s3_endpoint"))
    return Error{ErrorCode::bad_config, fmt::format("{}{}: {}", where, key, error.message)};
  return Error{ErrorCode::bad_config, fmt::format("{}{} = '{}': {}", where, key, value, error.message)};
}

Result<void> set(Config& config, std::string_view key, std::string_view value, std::string_view where) {
  for (const ConfigKey& row : config_keys()) {
    if (row.name != key) continue;
    if (const auto done = row.set(config, value); !done) return tl::unexpected(about(where, key, value, done.error()));
    return {};
  }
  return fail(ErrorCode::bad_config, fmt::format("{}unknown key '{}'", where, key));
}

/// Files write text or whole numbers; both are read by the key's own reader.
Result<std::string> text_of(const toml::node& node, std::string_view where, std::string_view key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return fmt::format("{}", *number);
  return fail(ErrorCode::bad_config, fmt::format("{}{}: text or a whole number was expected", where, key));
}

Result<void> read_file(Config& config, const std::string& file) {
  try {
    const toml::table table = toml::parse_file(file);
    for (const auto& [key, node] : table) {
      const std::string where = fmt::format("{} line {}: ", file, node.source().begin.line);
      TRACEWEIR_TRY(text, text_of(node, where, key.str()));
      TRACEWEIR_TRY_VOID(set(config, key.str(), text, where));
    }
    return {};
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::bad_config,
                fmt::format("{} line {}: {}", file, error.source().begin.line, error.description()));
  }
}

}  // namespace

std::string Config::store_url() const { return store.empty() ? "sqlite:" + data_dir + "/traceweir.db" : store; }

std::span<const ConfigKey> config_keys() {
  static const std::vector<ConfigKey> keys = make_keys();
  return keys;
}

std::string variable_of(std::string_view key) {
  std::string name = "TRACEWEIR_";
  for (const char c : key) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Result<Config> load_config(const ConfigSource& source) {
  Config config;
  if (!source.file.empty()) TRACEWEIR_TRY_VOID(read_file(config, source.file));
  for (const ConfigKey& key : config_keys()) {
    const std::string variable = variable_of(key.name);
    if (const auto value = source.environment(variable))
      if (const auto done = key.set(config, *value); !done)
        return tl::unexpected(about("", variable, *value, done.error()));
  }
  for (const auto& [key, value] : source.flags) TRACEWEIR_TRY_VOID(set(config, key, value, "--"));
  if (!config.analysis_workers && !store::is_shared(config.store_url()))
    return fail(ErrorCode::bad_config,
                "analysis_workers = none: nobody else can analyse what is in this store; several processes need "
                "postgresql://");
  if (!config.webhook_url.empty() && config.webhook_secret_file.empty())
    return fail(ErrorCode::bad_config,
                "webhook_secret_file: missing: notices are signed, so webhook_url needs a secret");
  if (config.tls_certificate.empty() != config.tls_key.empty())
    return fail(ErrorCode::bad_config, "tls_certificate and tls_key: one is missing: TLS needs both");
  return config;
}

}  // namespace traceweir::app
