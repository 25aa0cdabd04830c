#include "server/api/token_document.hpp"

#include <optional>
#include <string>

#include "server/wire/timestamp.hpp"

namespace traceweir::api {
namespace {

wire::Json time_of(const std::optional<store::Timestamp>& time) {
  return time ? wire::Json(wire::to_rfc3339(*time)) : wire::Json(nullptr);
}

wire::Json words_of(const store::Scopes& scopes) {
  wire::Json words = wire::Json::array();
  if (scopes.upload) words.push_back("upload");
  if (scopes.read) words.push_back("read");
  if (scopes.admin) words.push_back("admin");
  return words;
}

wire::Json job_of(const store::Token& token) {
  const auto job = wire::parse_json(token.binding);
  return job ? *job : wire::Json(nullptr);
}

std::string state_of(const store::Token& token, store::Timestamp now) {
  if (token.revoked_at) return "revoked";
  return token.expires_at && *token.expires_at <= now ? "expired" : "live";
}

}  // namespace

wire::Json token_document(const store::Token& token, store::Timestamp now) {
  return {{"id", token.id},
          {"project", token.project.empty() ? wire::Json(nullptr) : wire::Json(token.project)},
          {"scopes", words_of(token.scopes)},
          {"note", token.note},
          {"created_at", wire::to_rfc3339(token.created_at)},
          {"expires_at", time_of(token.expires_at)},
          {"revoked_at", time_of(token.revoked_at)},
          {"last_used_at", time_of(token.last_used_at)},
          {"replaced_by", token.replaced_by.empty() ? wire::Json(nullptr) : wire::Json(token.replaced_by)},
          {"job", job_of(token)},
          {"state", state_of(token, now)}};
}

}  // namespace traceweir::api
