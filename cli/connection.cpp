#include "cli/connection.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <optional>
#include <utility>

#include "cli/ci_facts.hpp"
#include "cli/command.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {

void add_connection_options(CLI::App& app, ConnectionOptions& options) {
  app.add_option("--url", options.url, "where the service is")->envname("TRACEWEIR_URL")->type_name("URL");
  app.add_option("--project", options.project, "project")->envname("TRACEWEIR_PROJECT")->type_name("NAME");
}

Result<Client> connect(const ConnectionOptions& options) {
  if (options.url.empty()) return fail(ErrorCode::usage, "where is the service? Set TRACEWEIR_URL or give --url");
  if (options.project.empty()) return fail(ErrorCode::usage, "which project? Give --project or set TRACEWEIR_PROJECT");
  TRACEWEIR_TRY(url, service_url(options.url));
  return client_at(url, process_variables()("TRACEWEIR_TOKEN"), options);
}

Result<Client> client_at(const ServiceUrl& url, std::string token, const ConnectionOptions& options) {
  std::optional<Proxy> proxy;
  if (url.scheme == ServiceUrl::Scheme::https) {
    TRACEWEIR_TRY(found, https_proxy(url.host, url.port, process_variables()));
    proxy = std::move(found);
  }
  return Client(url, std::move(token), std::move(proxy), std::chrono::seconds(options.retry_time_max));
}

int ask(const ConnectionOptions& options, const std::string& path, OutputForm form,
        const std::function<int(const Client&, const std::string& body)>& show) {
  const auto client = connect(options);
  if (!client) return say(client.error());
  const auto body = client->get(path);
  if (!body) return say(body.error());
  if (form == OutputForm::text) return show(*client, *body);
  fmt::print("{}\n", *body);
  return exit_done;
}

void PathWithQuery::add(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  text_ += fmt::format("{}{}={}", separator_, wire::percent_encoded(key), wire::percent_encoded(value));
  separator_ = '&';
}

}  // namespace traceweir::cli
