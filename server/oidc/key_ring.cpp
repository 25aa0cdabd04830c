#include "server/oidc/key_ring.hpp"

#include <fmt/format.h>

#include "server/outbound/caller.hpp"

namespace traceweir::oidc {
namespace {

tl::unexpected<Error> away(const std::string& issuer, std::string_view why) {
  return fail(ErrorCode::unreachable, fmt::format("the keys of {} cannot be had: {}", issuer, why));
}

outbound::Address discovery_of(outbound::Address issuer) {
  while (issuer.target.ends_with('/')) issuer.target.pop_back();
  issuer.target += "/.well-known/openid-configuration";
  return issuer;
}

bool same_place(const outbound::Address& a, const outbound::Address& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

}  // namespace

Result<std::string> KeyRing::get(const outbound::Address& address) const {
  outbound::Caller caller(address);
  outbound::Call call;
  call.headers = {{"Accept", "application/json"}};
  call.answer_bytes_max = document_bytes_max;
  auto answer = caller.send(call, times_.fetch_max);
  if (!answer) return away(issuer_, answer.error().message);
  if (answer->status != 200) return away(issuer_, fmt::format("answered by {}", answer->status));
  return std::move(answer->body);
}

/// The issuer says where its keys are; elsewhere than with itself they are not looked for.
Result<KeySet> KeyRing::fetch() const {
  TRACEWEIR_TRY(discovery, get(discovery_of(address_)));
  const auto json = wire::parse_json(discovery);
  if (!json || !json->is_object()) return away(issuer_, "its openid-configuration is no JSON object");
  wire::ObjectReader in(*json);
  const std::string issuer = in.maybe_text("issuer").value_or("");
  const auto place = outbound::address_of(in.maybe_text("jwks_uri").value_or(""));
  if (issuer != issuer_) return away(issuer_, "its openid-configuration is of another issuer");
  if (!place || !same_place(*place, address_)) return away(issuer_, "its jwks_uri is elsewhere");
  TRACEWEIR_TRY(keys, get(*place));
  auto set = KeySet::parse(keys);
  if (!set) return away(issuer_, set.error().message);
  return *std::move(set);
}

void KeyRing::fetch_where_needed(const std::string& key_id) {
  const auto now = Clock::now();
  const bool is_fresh = keys_ && now - fetched_at_ < times_.refresh;
  if (is_fresh && keys_->find(key_id) != nullptr) return;
  if (tried_at_ && now - *tried_at_ < times_.retry) return;
  auto set = fetch();
  tried_at_ = Clock::now();
  if (!set) {
    failure_ = std::move(set).error();
    return;
  }
  keys_ = *std::move(set);
  fetched_at_ = *tried_at_;
}

Result<void> KeyRing::check(const IdToken& token) {
  const std::lock_guard lock(mutex_);
  fetch_where_needed(token.key_id);
  if (keys_ && Clock::now() - fetched_at_ > times_.stale_max) keys_.reset();
  if (!keys_) return tl::unexpected(failure_);
  const Key* const key = keys_->find(token.key_id);
  if (key == nullptr)
    return fail(ErrorCode::unauthorized, "the id token is not accepted: its issuer has no such key (kid)");
  if (!signed_by(token, *key))
    return fail(ErrorCode::unauthorized, "the id token is not accepted: its signature does not hold");
  return {};
}

}  // namespace traceweir::oidc
