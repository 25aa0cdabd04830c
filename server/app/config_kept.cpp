#include <algorithm>
#include <utility>

#include "server/app/config_keys.hpp"
#include "server/s3/settings.hpp"

namespace traceweir::app {
namespace {

Result<void> check_place(std::string_view text) {
  if (text != "directory") TRACEWEIR_TRY_VOID(s3::place_of(text));
  return {};
}

/// It becomes a part of a host's name and of each signature.
Result<void> check_region(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (!text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), fits)) return {};
  return fail(ErrorCode::bad_config, "the name of a region such as us-east-1 was expected");
}

/// Parts are held in memory, one by each thread that moves traces.
constexpr std::uint64_t part_bytes_max = std::uint64_t{1} << 30;

/// S3 refuses smaller parts.
ConfigKey part_key() {
  ConfigKey key = bytes_key(
      "s3_part_bytes", "what goes or comes in one request, 5 MiB to 1 GiB",
      [](Config & c) -> auto& { return c.s3.part_bytes; });
  key.set = [set = key.set](Config& config, std::string_view text) -> Result<void> {
    TRACEWEIR_TRY_VOID(set(config, text));
    if (config.s3.part_bytes >= s3::part_bytes_min && config.s3.part_bytes <= part_bytes_max) return {};
    return fail(ErrorCode::bad_config,
                fmt::format("{} to {} was expected", show_bytes(s3::part_bytes_min), show_bytes(part_bytes_max)));
  };
  return key;
}

/// The keys of blobs that are kept elsewhere.
std::vector<ConfigKey> blob_keys() {
  return {
      checked_key(
          "blobs", "directory (in data_dir) or s3://BUCKET/PREFIX", &check_place,
          [](Config & c) -> auto& { return c.blobs; }),
      checked_key(
          "s3_endpoint", "http:// or https:// URL of an S3-compatible store; default: AWS's of s3_region",
          &if_any<&s3::endpoint_of>, [](Config & c) -> auto& { return c.s3_endpoint; }),
      checked_key(
          "s3_region", "region that requests are signed for", &check_region,
          [](Config & c) -> auto& { return c.s3.region; }),
      text_key(
          "s3_credentials_file", "file of the AWS tools' kind, section [default]; default: the variables AWS_*",
          [](Config & c) -> auto& { return c.s3.credentials.file; }),
      time_key(
          "s3_time_max", "one try of one request", [](Config & c) -> auto& { return c.s3.time_max; }, Zero::refused),
      count_key(
          "s3_tries_max", "tries of one request", 1, [](Config & c) -> auto& { return c.s3.tries_max; }),
      time_key(
          "s3_pause", "before the second try; doubled before each further one",
          [](Config & c) -> auto& { return c.s3.pause; }),
      part_key(),
      bytes_key(
          "blob_cache_bytes_max", "copies of blobs in data_dir, where they are kept elsewhere",
          [](Config & c) -> auto& { return c.s3.cache_bytes_max; }),
  };
}

/// The keys of what is kept. 0: no limit.
std::vector<ConfigKey> keeping_keys() {
  return {
      time_key(
          "trace_retention", "age at which traces of runs that neither failed nor were accepted go; 0: never",
          [](Config & c) -> auto& { return c.api.keeping.trace_retention; }),
      bytes_key(
          "trace_bytes_max", "traces that a project keeps; of more the oldest go; 0 B: no limit",
          [](Config & c) -> auto& { return c.api.keeping.trace_bytes_max; }),
      time_key(
          "measurement_retention", "age at which values go from histories and baselines; 0: never",
          [](Config & c) -> auto& { return c.api.keeping.measurement_retention; }),
      bytes_key(
          "quota_bytes_max", "traces that a project keeps; further uploads are refused; 0 B: no limit",
          [](Config & c) -> auto& { return c.api.keeping.quota_bytes_max; }),
      count_key(
          "quota_uploads_per_day", "uploads of a project in 24 h; further ones are refused; 0: no limit", 0,
          [](Config & c) -> auto& { return c.api.keeping.quota_uploads_per_day; }),
  };
}

}  // namespace

std::vector<ConfigKey> kept_keys() {
  std::vector<ConfigKey> keys = blob_keys();
  for (ConfigKey key : keeping_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace traceweir::app
