#include "server/store/store.hpp"

#include <algorithm>
#include <cctype>

#include "analyzer/core/words.hpp"
#include "server/store/postgres_store.hpp"
#include "server/store/postgres_url.hpp"
#include "server/store/sqlite_store.hpp"
#include "server/store/url.hpp"

namespace traceweir::store {
namespace {

constexpr Word<Mode> modes[] = {{Mode::gate, "gate"}, {Mode::observe, "observe"}};

constexpr Word<PolicySource> policy_sources[] = {{PolicySource::repository, "repository"},
                                                 {PolicySource::server, "server"}};

constexpr Word<ReadAccess> read_accesses[] = {{ReadAccess::token, "token"}, {ReadAccess::everyone, "public"}};

constexpr Word<RunStatus> run_statuses[] = {{RunStatus::pending, "pending"},
                                            {RunStatus::analysing, "analysing"},
                                            {RunStatus::judged, "judged"},
                                            {RunStatus::rejected, "rejected"}};

constexpr Word<UploadStatus> upload_statuses[] = {
    {UploadStatus::received, "received"}, {UploadStatus::whole, "whole"}, {UploadStatus::rejected, "rejected"}};

Result<void> check_path(std::string_view path) {
  if (!path.empty() && path != ":memory:") return {};
  return fail(ErrorCode::bad_config, "store: sqlite: has to be followed by the path of a file");
}

Result<void> check_address(std::string_view rest) {
  if (const auto address = postgres_address(rest); !address) return tl::unexpected(address.error());
  return {};
}

/// Whether several services may work on one store.
enum class Sharing { one, any };

struct Engine {
  std::string_view scheme;
  Sharing sharing;
  Result<void> (*check)(std::string_view address);
  Result<std::unique_ptr<Store>> (*open)(std::string_view address, Opening opening);
};

constexpr Engine engines[] = {{"sqlite:", Sharing::one, &check_path, &open_sqlite_store},
                              {"postgresql://", Sharing::any, &check_address, &open_postgres_store},
                              {"postgres://", Sharing::any, &check_address, &open_postgres_store}};

/// The part of a URL that may be shown: what follows it can hold a password, and so can what has no scheme at all.
std::string scheme_of(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find(':'));
  const bool is_word = scheme.size() < url.size() && std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
                       });
  return is_word ? '"' + std::string(scheme) + '"' : std::string("what is set");
}

Error no_engine(std::string_view url) {
  return {ErrorCode::bad_config, "store: " + scheme_of(url) +
                                     " is no store of this program; use sqlite:PATH or "
                                     "postgresql://USER@HOST/DATABASE"};
}

constexpr Word<Began> begans[] = {{Began::first, "first"},
                                  {Began::epoch, "epoch"},
                                  {Began::improvement, "improvement"},
                                  {Began::acceptance, "acceptance"}};

}  // namespace

std::string_view word(Began began) { return word_of(begans, began); }
std::optional<Began> began_of(std::string_view word) { return value_of(begans, word); }
std::string_view word(Mode mode) { return word_of(modes, mode); }
std::optional<Mode> mode_of(std::string_view word) { return value_of(modes, word); }
std::string_view word(PolicySource source) { return word_of(policy_sources, source); }
std::optional<PolicySource> policy_source_of(std::string_view word) { return value_of(policy_sources, word); }
std::string_view word(ReadAccess access) { return word_of(read_accesses, access); }
std::optional<ReadAccess> read_access_of(std::string_view word) { return value_of(read_accesses, word); }
std::string_view word(RunStatus status) { return word_of(run_statuses, status); }
std::optional<RunStatus> run_status_of(std::string_view word) { return value_of(run_statuses, word); }
std::string_view word(UploadStatus status) { return word_of(upload_statuses, status); }
std::optional<UploadStatus> upload_status_of(std::string_view word) { return value_of(upload_statuses, word); }

Result<std::unique_ptr<Store>> open_store(std::string_view url, Opening opening) {
  for (const Engine& engine : engines)
    if (url.starts_with(engine.scheme)) return engine.open(url.substr(engine.scheme.size()), opening);
  return tl::unexpected(no_engine(url));
}

bool is_shared(std::string_view url) {
  for (const Engine& engine : engines)
    if (url.starts_with(engine.scheme)) return engine.sharing == Sharing::any;
  return false;
}

Result<void> check_url(std::string_view url) {
  for (const Engine& engine : engines)
    if (url.starts_with(engine.scheme)) return engine.check(url.substr(engine.scheme.size()));
  return tl::unexpected(no_engine(url));
}

std::string shown_url(std::string_view url) { return without_password(url); }

}  // namespace traceweir::store
