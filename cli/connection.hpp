// For: options that every command of the service has: where it is, and of which project.
// Not for: talking (client.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "analyzer/core/error.hpp"
#include "cli/client.hpp"

namespace CLI {
class App;
}

namespace traceweir::cli {

struct ConnectionOptions {
  std::string url, project;
  std::int64_t retry_time_max = 90;  ///< seconds
};

/// --url (TRACEWEIR_URL), --project (TRACEWEIR_PROJECT). The token comes from TRACEWEIR_TOKEN only: an argument would
/// be seen by every user of the machine.
void add_connection_options(CLI::App& app, ConnectionOptions& options);

/// Errors: usage (no URL, or not one; HTTPS_PROXY that is none).
Result<Client> connect(const ConnectionOptions& options);

/// A client of any URL, through the proxy that the variables name. Errors: usage (HTTPS_PROXY that is none).
Result<Client> client_at(const ServiceUrl& url, std::string token, const ConnectionOptions& options);

enum class OutputForm { text, json };

/// Asks the service and prints: the answer as it is, or what `show` makes of it. Returns the exit code.
int ask(const ConnectionOptions& options, const std::string& path, OutputForm form,
        const std::function<int(const Client&, const std::string& body)>& show);

/// Builds `path?key=value&…`; empty values are left out.
class PathWithQuery {
 public:
  explicit PathWithQuery(std::string path) : text_(std::move(path)) {}
  void add(std::string_view key, std::string_view value);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  char separator_ = '?';
};

}  // namespace traceweir::cli
