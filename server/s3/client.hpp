// For: the verbs of S3 that we use, each signed, bounded, and tried again where that may help. Not for: blobs
// (s3_blob_store.hpp).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/s3/answers.hpp"
#include "server/s3/exchange.hpp"
#include "server/s3/settings.hpp"

namespace traceweir::s3 {

struct ListedNow {
  Listing listing;
  Seconds now = 0;  ///< by the store's own clock
};

/// Every payload is hashed into its signature, so that the store refuses bytes that changed on the way.
/// Errors: every verb may answer store_unavailable: no answer after all tries, or a refusal (its word and what to look
///         at are in the message; no credentials are). Further errors are named at the verb.
/// Thread: share freely; every verb blocks.
class Client {
 public:
  explicit Client(Settings settings);

  /// Whether the bucket is there for us; one try. Errors: none of its own.
  Result<void> look();

  /// Errors: none of its own.
  Result<void> put(const std::string& key, std::span<const char> body);
  /// The id of an upload in parts. Errors: none of its own.
  Result<std::string> begin_parts(const std::string& key);
  /// The part's ETag. Shape: parts are numbered from 1 on. Errors: none of its own.
  Result<std::string> put_part(const std::string& key, const std::string& upload, std::size_t number,
                               std::span<const char> body);
  /// Errors: none of its own.
  Result<void> complete_parts(const std::string& key, const std::string& upload, const std::vector<std::string>& etags);
  /// Errors: none of its own.
  Result<void> abort_parts(const std::string& key, const std::string& upload);

  /// Units: bytes. Errors: not_found.
  Result<std::uint64_t> size_of(const std::string& key);
  /// Exactly these bytes. Errors: not_found.
  Result<std::string> get(const std::string& key, std::uint64_t begin, std::uint64_t bytes);
  /// One that is not there is no error. Errors: none of its own.
  Result<void> remove(const std::string& key);
  /// Up to a thousand, in the order of their keys. Errors: none of its own.
  Result<ListedNow> list(const std::string& prefix, const std::string& from);

  void stop();

  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  struct Question;
  Result<Answer> ask(const Question& question);
  Result<Answer> try_once(const Question& question);
  bool wait_before(unsigned next_try);

  Settings settings_;
  Exchange exchange_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace traceweir::s3
