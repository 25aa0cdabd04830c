// For: the top-level keys of a Kineto trace that say where it comes from. Not for: host names, users, paths and job
// variables, which stand there too and are never read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// Collects the values of top-level keys in any order.
class KinetoHeader {
 public:
  /// Whether `key` is one of ours.
  static bool wants(std::string_view key);

  /// Takes the JSON text of a wanted key. false: it is no JSON of the shape that the key has.
  bool take(std::string_view key, std::string_view json);

  /// Whether none of our keys was there.
  [[nodiscard]] bool empty() const { return values_.empty() && gpus_.empty() && !rank_ && !world_size_; }

  [[nodiscard]] bool has_clock_base() const { return values_.contains("baseTimeNanoseconds"); }
  [[nodiscard]] std::optional<std::int64_t> rank() const { return rank_; }
  [[nodiscard]] std::optional<std::int64_t> world_size() const { return world_size_; }

  /// Product name of the device with this ordinal; empty: unknown.
  [[nodiscard]] std::string_view gpu(std::int64_t ordinal) const;

  /// Shape: "Kineto, schemaVersion 1"; "Kineto" where no version is stated.
  [[nodiscard]] std::string producer() const;
  [[nodiscard]] timeline::Environment environment() const;

 private:
  [[nodiscard]] std::string value(std::string_view key) const;

  std::map<std::string, std::string, std::less<>> values_;  ///< of keys with a scalar value, without quotes
  std::map<std::int64_t, std::string> gpus_;
  std::optional<std::int64_t> rank_;
  std::optional<std::int64_t> world_size_;
  std::string nccl_;
};

/// `12040` → "12.4"; text that is no such number stays as it is.
std::string cuda_version(std::string_view number);
/// `60443483` → "HIP 6.4.43483".
std::string hip_version(std::string_view number);

}  // namespace traceweir::ingest
