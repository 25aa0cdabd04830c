#include "server/app/first_token.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "server/api/tokens.hpp"
#include "server/spool/file.hpp"

namespace traceweir::app {
namespace {

namespace fs = std::filesystem;

/// Where the token is until the store knows it.
fs::path part_of(const fs::path& path, const std::string& token) { return path.string() + '.' + token; }

tl::unexpected<Error> not_written() {
  return tl::unexpected(spool::system_error(errno, "writing the administrator's token"));
}

/// A file that only we may read, whole or not at all.
Result<void> write_secret(const fs::path& path, const std::string& text) {
  const spool::OwnedFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return not_written();
  const bool whole = ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || ::fsync(file.get()) != 0) return not_written();
  return spool::sync_folder(path.parent_path());
}

Result<void> give_its_name(const fs::path& part, const fs::path& path) {
  if (std::rename(part.c_str(), path.c_str()) != 0) return not_written();
  return spool::sync_folder(path.parent_path());
}

bool is_administrator(const store::Token& token) { return token.scopes.admin && token.project.empty(); }

/// The file of an administrator that the store knows and whose maker did not live to name it. Whether there was one.
Result<bool> name_what_was_left(const std::vector<store::Token>& tokens, const fs::path& path) {
  for (const store::Token& token : tokens) {
    const fs::path part = part_of(path, token.id);
    std::error_code ignored;
    if (!is_administrator(token) || fs::exists(path, ignored) || !fs::exists(part, ignored)) continue;
    TRACEWEIR_TRY_VOID(give_its_name(part, path));
    return true;
  }
  return false;
}

}  // namespace

Result<bool> make_first_token(store::Store& store, const std::string& path, store::Timestamp now) {
  TRACEWEIR_TRY(tokens, store.tokens());
  if (std::any_of(tokens.begin(), tokens.end(), is_administrator)) return name_what_was_left(tokens, path);
  store::Token token;
  token.scopes = {true, true, true};
  token.note = "first start";
  token.created_at = now;
  TRACEWEIR_TRY(secret, api::new_token());
  const fs::path part = part_of(path, secret.id);
  TRACEWEIR_TRY_VOID(write_secret(part, api::to_text(secret) + "\n"));
  TRACEWEIR_TRY(made, api::keep_first_token(store, secret, token, "first start"));
  if (made) TRACEWEIR_TRY_VOID(give_its_name(part, path));
  std::error_code ignored;
  if (!made) fs::remove(part, ignored);
  return made;
}

}  // namespace traceweir::app
