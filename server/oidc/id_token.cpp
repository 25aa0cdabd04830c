#include "server/oidc/id_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "analyzer/core/text.hpp"
#include "analyzer/core/words.hpp"

namespace traceweir::oidc {
namespace {

using std::chrono::seconds;

constexpr std::size_t key_id_bytes_max = 256;
constexpr double time_max = 253'402'300'799.0;  // the end of the year 9999

constexpr Word<Algorithm> algorithms[] = {{Algorithm::rs256, "RS256"}, {Algorithm::es256, "ES256"}};

tl::unexpected<Error> no_token(std::string_view why) {
  return fail(ErrorCode::unauthorized, fmt::format("the id token is not accepted: {}", why));
}

Result<wire::Json> object_in(std::string_view part) {
  const auto text = base64url_decoded(part);
  if (!text) return no_token("a part of it is not base64url");
  auto json = wire::parse_json(*text);
  if (!json || !json->is_object()) return no_token("a part of it is no JSON object");
  return *std::move(json);
}

/// RFC 7519's NumericDate, which may have a fraction.
std::optional<Time> time_in(const wire::Json& claims, const char* key) {
  const auto found = claims.find(key);
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  if (!(value >= 0 && value <= time_max)) return std::nullopt;
  return Time{std::chrono::seconds{static_cast<std::int64_t>(value)}};
}

bool names(const wire::Json& claims, const std::string& audience) {
  const auto found = claims.find("aud");
  if (found == claims.end()) return false;
  if (found->is_string()) return found->get<std::string>() == audience;
  const auto same = [&](const wire::Json& item) { return item.is_string() && item.get<std::string>() == audience; };
  return found->is_array() && std::any_of(found->begin(), found->end(), same);
}

}  // namespace

std::optional<std::string> base64url_decoded(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(static_cast<unsigned char>(bits >> count));
    bits &= (1U << count) - 1;
  }
  if (bits != 0) return std::nullopt;  // two texts for the same bytes
  return bytes;
}

Result<IdToken> parse_id_token(std::string_view text) {
  const std::size_t first = std::min(text.find('.'), text.size());
  const std::size_t second = std::min(text.find('.', first + 1), text.size());
  if (second == text.size() || text.find('.', second + 1) != std::string_view::npos)
    return no_token("it has not three parts");
  TRACEWEIR_TRY(head, object_in(text.substr(0, first)));
  TRACEWEIR_TRY(claims, object_in(text.substr(first + 1, second - first - 1)));
  const auto signature = base64url_decoded(text.substr(second + 1));
  const auto algorithm = value_of(algorithms, text_in(head, "alg"));
  IdToken token;
  token.key_id = text_in(head, "kid");
  if (!algorithm) return no_token("its algorithm is neither RS256 nor ES256");
  if (head.contains("crit")) return no_token("it has extensions that must be understood");
  if (token.key_id.empty() || token.key_id.size() > key_id_bytes_max) return no_token("it names no key (kid)");
  if (!signature || signature->empty()) return no_token("it has no signature");
  token.algorithm = *algorithm;
  token.signed_text = text.substr(0, second);
  token.signature = *signature;
  token.claims = std::move(claims);
  return token;
}

std::string text_in(const wire::Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string issuer_of(const IdToken& token) { return text_in(token.claims, "iss"); }

Result<void> check_claims(const wire::Json& claims, const ClaimRules& rules, Time now) {
  if (!names(claims, rules.audience))
    return no_token(fmt::format("it was not made for this service; ask for the audience '{}'", rules.audience));
  const auto ends = time_in(claims, "exp");
  const auto made = time_in(claims, "iat");
  if (!ends || !made) return no_token("it does not say when it was made (iat) and when it ends (exp)");
  if (now >= *ends + clock_skew) return no_token("it has expired (exp)");
  if (*made > now + clock_skew) return no_token("it was made in the future (iat); is a clock wrong?");
  if (now - *made > rules.age_max + clock_skew)
    return no_token(fmt::format("it is older than oidc_token_age_max = {} s (iat)", rules.age_max.count()));
  if (!claims.contains("nbf")) return {};
  const auto begins = time_in(claims, "nbf");
  if (!begins || *begins > now + clock_skew) return no_token("it is not valid yet (nbf)");
  return {};
}

}  // namespace traceweir::oidc
