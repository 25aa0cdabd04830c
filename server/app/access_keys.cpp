#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "analyzer/core/words.hpp"
#include "server/app/config_keys.hpp"
#include "server/http/addresses.hpp"

namespace traceweir::app {
namespace {

constexpr Word<oidc::PlainHttp> plain_http_words[] = {{oidc::PlainHttp::never, "never"},
                                                      {oidc::PlainHttp::loopback, "loopback"}};

ConfigKey trusted_proxies_key() {
  return {"trusted_proxies", "addresses and networks whose X-Forwarded-For says who asks; empty: none",
          [](Config& config, std::string_view text) -> Result<void> {
            TRACEWEIR_TRY_VOID(http::Networks::parse(text));
            config.trusted_proxies = text;
            return {};
          },
          [](const Config& config) { return config.trusted_proxies; }};
}

/// URLs, separated by commas. What each has to be is checked with the others (oidc::Issuers).
template <typename Field>
ConfigKey issuers_key(std::string_view name, std::string_view help, Field field) {
  return {name, help,
          [field](Config& config, std::string_view text) -> Result<void> {
            std::vector<std::string>& urls = field(config);
            urls.clear();
            std::string list(text);
            std::replace(list.begin(), list.end(), ',', ' ');
            for (std::size_t begin = list.find_first_not_of(' '); begin != std::string::npos;) {
              const std::size_t end = std::min(list.find(' ', begin), list.size());
              urls.push_back(list.substr(begin, end - begin));
              begin = list.find_first_not_of(' ', end);
            }
            return {};
          },
          [field](Config config) { return fmt::format("{}", fmt::join(field(config), ", ")); }};
}

ConfigKey plain_http_key() {
  return {"oidc_plain_http", "never, or for tests loopback: an issuer on this host may be asked without TLS",
          [](Config& config, std::string_view text) -> Result<void> {
            const auto word = value_of(plain_http_words, text);
            if (!word) return fail(ErrorCode::bad_config, "never or loopback was expected");
            config.oidc.plain_http = *word;
            return {};
          },
          [](const Config& config) { return std::string(word_of(plain_http_words, config.oidc.plain_http)); }};
}

std::vector<ConfigKey> address_keys() {
  return {
      count_key(
          "connections_per_address_max", "open connections of one address; trusted proxies are not counted", 1,
          [](Config & c) -> auto& { return c.http.connections_per_address_max; }),
      count_key(
          "requests_per_address_max", "requests a second of one address, ten seconds' worth at once; 0: no limit", 0,
          [](Config & c) -> auto& { return c.http.requests_per_address_max; }),
      count_key(
          "failed_authentications_max", "requests a minute of one address with a wrong token, half of them at once", 1,
          [](Config & c) -> auto& { return c.http.failed_authentications_max; }),
      trusted_proxies_key(),
  };
}

std::vector<ConfigKey> tls_keys() {
  return {
      text_key(
          "tls_certificate", "PEM file with the certificate and its chain; empty: plain HTTP",
          [](Config & c) -> auto& { return c.tls_certificate; }),
      text_key(
          "tls_key", "PEM file with its key, without a password", [](Config & c) -> auto& { return c.tls_key; }),
      time_key(
          "tls_reload_pause", "how often the two files are looked at for a renewed certificate",
          [](Config & c) -> auto& { return c.tls_reload_pause; }, Zero::refused),
      time_key(
          "handshake_time_max", "a client's TLS handshake",
          [](Config & c) -> auto& { return c.http.handshake_time_max; }, Zero::refused),
  };
}

std::vector<ConfigKey> oidc_keys() {
  return {
      issuers_key(
          "oidc_github_issuers", "issuers of GitHub Actions' id tokens, as in iss, separated by commas",
          [](Config & c) -> auto& { return c.oidc.github; }),
      issuers_key(
          "oidc_gitlab_issuers", "issuers of GitLab CI's id tokens", [](Config & c) -> auto& { return c.oidc.gitlab; }),
      text_key(
          "oidc_audience", "whom id tokens must be made for (aud); default: public_url",
          [](Config & c) -> auto& { return c.oidc.rules.audience; }),
      time_key(
          "oidc_token_age_max", "how old an id token may be", [](Config & c) -> auto& { return c.oidc.rules.age_max; },
          Zero::refused),
      time_key(
          "oidc_issued_time_max", "life of the token that a job gets for its id token",
          [](Config & c) -> auto& { return c.api.oidc_issued_time_max; }, Zero::refused),
      time_key(
          "oidc_fetch_time_max", "one question to an issuer",
          [](Config & c) -> auto& { return c.oidc.times.fetch_max; }, Zero::refused),
      time_key(
          "oidc_keys_refresh", "after which an issuer's keys are asked for again",
          [](Config & c) -> auto& { return c.oidc.times.refresh; }, Zero::refused),
      time_key(
          "oidc_keys_retry", "between two such questions at least, whatever keys tokens name",
          [](Config & c) -> auto& { return c.oidc.times.retry; }),
      time_key(
          "oidc_keys_stale_max", "how old keys may be while their issuer is away",
          [](Config & c) -> auto& { return c.oidc.times.stale_max; }, Zero::refused),
      plain_http_key(),
  };
}

}  // namespace

std::vector<ConfigKey> access_keys() {
  std::vector<ConfigKey> keys = address_keys();
  for (ConfigKey key : tls_keys()) keys.push_back(std::move(key));
  for (ConfigKey key : oidc_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace traceweir::app
