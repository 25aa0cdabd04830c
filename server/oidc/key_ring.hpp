// For: the keys of one issuer: fetched when they are needed, kept for a while, fetched again when a token names one
// that is not among them, and used on while the issuer is away.
// Not for: what a key is (keys.hpp).
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "server/oidc/keys.hpp"
#include "server/outbound/address.hpp"

namespace traceweir::oidc {

struct KeyRingTimes {
  std::chrono::milliseconds fetch_max{5'000};       ///< of one question to the issuer; two make a fetch
  std::chrono::milliseconds refresh{3'600'000};     ///< after which keys are asked for again
  std::chrono::milliseconds retry{30'000};          ///< between two fetches at least, whoever asks
  std::chrono::milliseconds stale_max{86'400'000};  ///< how old keys may be while the issuer is away
};

/// Thread: any; a fetch blocks all who ask.
class KeyRing {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t document_bytes_max = 256 * 1024;

  /// `issuer` is an URL without a slash at its end.
  KeyRing(std::string issuer, outbound::Address address, KeyRingTimes times)
      : issuer_(std::move(issuer)), address_(std::move(address)), times_(times) {}

  /// Whether the issuer signed it.
  /// Errors: unauthorized (no key of that name, or it did not), unreachable (there are no keys: the issuer is away, or
  ///         answers what it must not).
  Result<void> check(const IdToken& token);

 private:
  /// Errors: unreachable.
  Result<KeySet> fetch() const;
  /// Errors: unreachable.
  [[nodiscard]] Result<std::string> get(const outbound::Address& address) const;
  void fetch_where_needed(const std::string& key_id);

  std::string issuer_;
  outbound::Address address_;
  KeyRingTimes times_;
  std::mutex mutex_;
  std::optional<KeySet> keys_;
  Clock::time_point fetched_at_{};
  std::optional<Clock::time_point> tried_at_;
  Error failure_{ErrorCode::unreachable, ""};  ///< of the last fetch
};

}  // namespace traceweir::oidc
