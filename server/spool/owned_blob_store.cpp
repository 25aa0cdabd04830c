#include "server/spool/owned_blob_store.hpp"

#include <utility>

namespace traceweir::spool {
namespace {

/// How long a look at the name holds: a share that is unmounted meanwhile is noticed after that.
constexpr std::chrono::seconds look_holds{10};

std::int64_t steady_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

tl::unexpected<Error> not_ours(const std::string& why) {
  return fail(ErrorCode::store_unavailable, "blob store: cannot be used: " + why);
}

}  // namespace

Result<void> OwnedBlobStore::check() {
  const std::int64_t seen_at = seen_at_.load();
  if (seen_at != 0 && steady_ns() - seen_at < std::chrono::nanoseconds(look_holds).count()) return {};
  TRACEWEIR_TRY(name, place_->owner());
  named_ = !name.empty();
  if (name.empty()) TRACEWEIR_TRY_VOID(check_newest());
  if (!name.empty() && name != owner_.id)
    return not_ours("it has the traces of another store, " + name + "; the configured one is " + owner_.id);
  seen_at_ = steady_ns();
  return {};
}

/// Of a place that has no name.
Result<void> OwnedBlobStore::check_newest() {
  TRACEWEIR_TRY(newest_blob, owner_.newest_blob());
  if (newest_blob.empty()) return {};
  const auto newest = place_->fetch(newest_blob);
  if (!newest && newest.error().code == ErrorCode::not_found)
    return not_ours("it has neither the name of the store, " + owner_.id + ", nor its newest trace: is it mounted?");
  return newest ? Result<void>{} : tl::unexpected(newest.error());
}

Result<void> OwnedBlobStore::ready() {
  TRACEWEIR_TRY_VOID(place_->ready());
  return check();
}

Result<void> OwnedBlobStore::keep(SpooledFile&& file) {
  SpooledFile kept = std::move(file);  // whatever happens, the caller has no file any more
  TRACEWEIR_TRY_VOID(check());
  if (!named_) TRACEWEIR_TRY_VOID(place_->set_owner(owner_.id));
  named_ = true;
  return place_->keep(std::move(kept));
}

/// What is there is right, by its hash. Only what is missing may be missing from the wrong place.
Result<LocalBlob> OwnedBlobStore::fetch(std::string_view sha256) {
  auto blob = place_->fetch(sha256);
  if (blob || blob.error().code != ErrorCode::not_found) return blob;
  seen_at_ = 0;
  TRACEWEIR_TRY_VOID(check());
  return blob;
}

Result<void> OwnedBlobStore::remove(std::string_view sha256, const IsReferredTo& is_referred_to,
                                    std::chrono::seconds age) {
  TRACEWEIR_TRY_VOID(check());
  return place_->remove(sha256, is_referred_to, age);
}

Result<std::size_t> OwnedBlobStore::sweep(const IsReferredTo& is_referred_to, std::chrono::seconds age) {
  seen_at_ = 0;
  TRACEWEIR_TRY_VOID(check());
  return place_->sweep(is_referred_to, age);
}

}  // namespace traceweir::spool
