// For: what one address may cost: connections, requests, tries with tokens that are not valid.
// Not for: the limits of a single connection (session.hpp), or whether a token is valid (server/api).
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "server/http/limits.hpp"
#include "server/http/rates.hpp"

namespace traceweir::http {

/// A request that is not let in yet: why, and when it may come again.
struct TurnedBack {
  std::string why;
  std::chrono::seconds retry_after;
};

class Visitors;

/// A connection that counts, until this is destroyed.
class Visit {
 public:
  Visit() = default;  ///< one that does not count
  Visit(Visitors& visitors, std::string client) : visitors_(&visitors), client_(std::move(client)) {}
  Visit(Visit&& other) noexcept : visitors_(std::exchange(other.visitors_, nullptr)), client_(other.client_) {}
  Visit& operator=(Visit&&) = delete;
  ~Visit();

 private:
  Visitors* visitors_ = nullptr;
  std::string client_;
};

/// Memory: bounded by connections_max, addresses_max and known_tokens_max. Thread: any.
class Visitors {
 public:
  using Clock = std::chrono::steady_clock;
  /// Tokens that were valid, which a neighbour's wrong ones do not shut out.
  static constexpr std::size_t known_tokens_max = 4096;

  explicit Visitors(const HttpLimits& limits);

  /// One more connection of `client`. Nothing: it has as many as it may.
  [[nodiscard]] std::optional<Visit> enter(const std::string& client);

  /// One more request. `authorization` is the whole field, empty where there is none.
  std::optional<TurnedBack> ask(const std::string& client, std::string_view authorization, Clock::time_point now);

  /// The token in `authorization` was found valid. Nothing: it may be said, and is remembered; else so many wrong ones
  /// came from the address, perhaps at the same moment, that this may be a guess, too.
  std::optional<TurnedBack> was_valid(const std::string& client, std::string_view authorization, Clock::time_point now);
  /// It was not. Nothing: it may be said; else the address has tried too often, and is told only that.
  std::optional<TurnedBack> was_wrong(const std::string& client, std::string_view authorization, Clock::time_point now);

 private:
  friend class Visit;
  void leave(const std::string& client);
  [[nodiscard]] bool is_known(const std::string& hash);
  void remember(const std::string& hash);
  void forget(const std::string& hash);
  [[nodiscard]] TurnedBack too_many_failures(std::chrono::duration<double> wait) const;

  const HttpLimits& limits_;
  RateTable requests_, failures_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::size_t> connections_;
  std::list<std::string> known_;  ///< hashes of valid tokens; the one that was used last comes first
  std::unordered_map<std::string, std::list<std::string>::iterator> by_hash_;
};

}  // namespace traceweir::http
