#include "server/app/blobs.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "server/s3/s3_blob_store.hpp"
#include "server/spool/directory_blob_store.hpp"
#include "server/spool/owned_blob_store.hpp"
#include "server/spool/uuid.hpp"

namespace traceweir::app {
namespace {

/// The variables of the AWS tools.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What the keys come to, credentials included.
Result<s3::Settings> settings_of(const Config& config) {
  s3::Settings settings = config.s3;
  TRACEWEIR_TRY(place, s3::place_of(config.blobs));
  settings.place = std::move(place);
  settings.endpoint = s3::endpoint_of_region(settings.region);
  if (!config.s3_endpoint.empty()) {
    TRACEWEIR_TRY(endpoint, s3::endpoint_of(config.s3_endpoint));
    settings.endpoint = std::move(endpoint);
  }
  settings.credentials.environment = {variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                                      variable("AWS_SESSION_TOKEN")};
  return settings;
}

bool is_elsewhere(const Config& config) { return config.blobs != "directory"; }

}  // namespace

Result<void> check_blobs(const Config& config) {
  if (!is_elsewhere(config)) return {};
  TRACEWEIR_TRY(settings, settings_of(config));
  TRACEWEIR_TRY(credentials, settings.credentials.read());
  static_cast<void>(credentials);
  return {};
}

Result<std::unique_ptr<spool::BlobStore>> open_blobs(const Config& config) {
  if (!is_elsewhere(config)) {
    TRACEWEIR_TRY(directory, spool::DirectoryBlobStore::open(config.data_dir));
    return std::move(directory);
  }
  TRACEWEIR_TRY(settings, settings_of(config));
  TRACEWEIR_TRY(store, s3::S3BlobStore::open(std::move(settings), config.data_dir, config.spool.disk_headroom_bytes));
  return std::move(store);
}

Result<std::unique_ptr<spool::BlobStore>> open_blobs_of(store::Store& store, const Config& config) {
  TRACEWEIR_TRY(place, open_blobs(config));
  TRACEWEIR_TRY(id, store.identity(spool::new_uuid()));
  const auto newest_blob = [&store]() -> Result<std::string> {
    TRACEWEIR_TRY(newest, store.newest_blob());
    return newest.value_or("");
  };
  return std::make_unique<spool::OwnedBlobStore>(std::move(place), spool::BlobOwner{std::move(id), newest_blob});
}

}  // namespace traceweir::app
