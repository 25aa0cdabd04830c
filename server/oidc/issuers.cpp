#include "server/oidc/issuers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace traceweir::oidc {

Result<void> Issuers::add(const std::string& url, Ci ci, const IssuerSettings& settings) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorCode::bad_config, fmt::format("oidc issuer '{}': {}", url, why));
  };
  auto address = outbound::address_of(url);
  if (!address || url.find('?') != std::string::npos || url.ends_with('/'))
    return wrong("https://HOST or https://HOST/PATH was expected, without a slash at its end, as in the token's iss");
  const bool may_be_plain = settings.plain_http == PlainHttp::loopback && outbound::is_loopback(address->host);
  if (address->scheme != outbound::Address::Scheme::https && !may_be_plain) return wrong("only https is possible");
  if (know(url)) return wrong("is named twice");
  issuers_.push_back({url, ci, std::make_unique<KeyRing>(url, *std::move(address), settings.times)});
  return {};
}

Result<Issuers> Issuers::open(const IssuerSettings& settings) {
  Issuers issuers;
  issuers.rules_ = settings.rules;
  for (const std::string& url : settings.github) TRACEWEIR_TRY_VOID(issuers.add(url, Ci::github, settings));
  for (const std::string& url : settings.gitlab) TRACEWEIR_TRY_VOID(issuers.add(url, Ci::gitlab, settings));
  if (!issuers.empty() && settings.rules.audience.empty())
    return fail(ErrorCode::bad_config,
                "oidc_audience: missing, and public_url too: whom must a job's token be made for?");
  return issuers;
}

bool Issuers::know(std::string_view issuer) const {
  return std::any_of(issuers_.begin(), issuers_.end(), [&](const Issuer& known) { return known.url == issuer; });
}

Result<Job> Issuers::job_of(std::string_view text, Time now) const {
  TRACEWEIR_TRY(token, parse_id_token(text));
  const std::string named = issuer_of(token);
  const auto issuer =
      std::find_if(issuers_.begin(), issuers_.end(), [&](const Issuer& known) { return known.url == named; });
  if (issuer == issuers_.end())
    return fail(ErrorCode::unauthorized, "the id token is not accepted: its issuer is not one of this service's");
  TRACEWEIR_TRY_VOID(issuer->keys->check(token));
  TRACEWEIR_TRY_VOID(check_claims(token.claims, rules_, now));
  return oidc::job_of(issuer->ci, token.claims);
}

}  // namespace traceweir::oidc
