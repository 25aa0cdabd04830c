#include "server/store/migrate.hpp"

namespace traceweir::store {
namespace {

std::string newer_schema(std::int64_t stored, std::size_t known) {
  return "the store's schema has version " + std::to_string(stored) + ", newer than version " + std::to_string(known) +
         " of this program: start the newer program";
}

}  // namespace

Result<const Migration*> next_migration(std::span<const Migration> known, std::span<const AppliedMigration> applied) {
  for (std::size_t i = 0; i < applied.size(); ++i) {
    if (i >= known.size())
      return fail(ErrorCode::store_unavailable, newer_schema(applied.back().version, known.size()));
    if (applied[i].version != known[i].version)
      return fail(ErrorCode::store_unavailable, "schema_version: version " + std::to_string(known[i].version) +
                                                    " is missing before " + std::to_string(applied[i].version));
    if (applied[i].sha256 != known[i].sha256)
      return fail(ErrorCode::store_unavailable,
                  "the store's schema was made by another text of " + std::string(known[i].name));
  }
  return applied.size() < known.size() ? &known[applied.size()] : nullptr;
}

Result<std::size_t> known_version(std::int64_t version, std::size_t known) {
  if (version >= 1 && static_cast<std::size_t>(version) <= known) return static_cast<std::size_t>(version);
  return fail(ErrorCode::store_unavailable, "its schema has version " + std::to_string(version) +
                                                ", and this program knows 1 to " + std::to_string(known) +
                                                ": use the program that is newer");
}

Result<void> check_not_newer(std::int64_t stored, std::int64_t version) {
  if (stored <= version) return {};
  return fail(ErrorCode::store_unavailable, "the target's schema has version " + std::to_string(stored) +
                                                ", and what is to be put into it has version " +
                                                std::to_string(version) + ": give an empty database");
}

}  // namespace traceweir::store
