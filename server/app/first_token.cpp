#include "server/app/first_token.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "server/api/tokens.hpp"
#include "server/spool/file.hpp"

namespace traceweir::app {
namespace {

tl::unexpected<Error> not_written() {
  return tl::unexpected(spool::system_error(errno, "writing the administrator's token"));
}

/// A file that only we may read, whole or not at all.
Result<void> write_secret(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  const spool::OwnedFile file(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return not_written();
  const bool whole = ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || ::fsync(file.get()) != 0 || std::rename(part.c_str(), path.c_str()) != 0) return not_written();
  return spool::sync_folder(std::filesystem::path(path).parent_path());
}

}  // namespace

Result<bool> make_first_token(store::Store& store, const std::string& path, store::Timestamp now) {
  TRACEWEIR_TRY(tokens, store.tokens());
  const auto is_administrator = [](const store::Token& t) { return t.scopes.admin && t.project.empty(); };
  if (std::any_of(tokens.begin(), tokens.end(), is_administrator)) return false;
  store::Token token;
  token.scopes = {true, true, true};
  token.note = "first start";
  token.created_at = now;
  TRACEWEIR_TRY(secret, api::new_token());
  TRACEWEIR_TRY_VOID(write_secret(path, api::to_text(secret) + "\n"));
  TRACEWEIR_TRY_VOID(api::keep_token(store, secret, token, "first start"));
  return true;
}

}  // namespace traceweir::app
