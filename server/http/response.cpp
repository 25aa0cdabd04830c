#include "server/http/response.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/core/words.hpp"
#include "server/http/ascii.hpp"

namespace traceweir::http {
namespace {

constexpr std::size_t download_name_max = 100;

constexpr Word<Status> reasons[] = {
    {Status::ok, "OK"},
    {Status::created, "Created"},
    {Status::accepted, "Accepted"},
    {Status::no_content, "No Content"},
    {Status::see_other, "See Other"},
    {Status::not_modified, "Not Modified"},
    {Status::bad_request, "Bad Request"},
    {Status::unauthorized, "Unauthorized"},
    {Status::forbidden, "Forbidden"},
    {Status::not_found, "Not Found"},
    {Status::method_not_allowed, "Method Not Allowed"},
    {Status::request_timeout, "Request Timeout"},
    {Status::conflict, "Conflict"},
    {Status::gone, "Gone"},
    {Status::length_required, "Length Required"},
    {Status::payload_too_large, "Content Too Large"},
    {Status::unsupported_media_type, "Unsupported Media Type"},
    {Status::expectation_failed, "Expectation Failed"},
    {Status::unprocessable, "Unprocessable Content"},
    {Status::failed_dependency, "Failed Dependency"},
    {Status::too_many_requests, "Too Many Requests"},
    {Status::internal_error, "Internal Server Error"},
    {Status::not_implemented, "Not Implemented"},
    {Status::unavailable, "Service Unavailable"},
    {Status::insufficient_storage, "Insufficient Storage"},
};

bool is_inert(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/// A name that no shell, no file system and no header can misread.
std::string inert_name(std::string_view name) {
  std::string inert(name.substr(0, download_name_max));
  for (char& c : inert)
    if (!is_inert(c)) c = '_';
  if (inert.empty() || inert.front() == '.') inert.insert(0, "file");
  return inert;
}

}  // namespace

std::string_view reason(Status status) { return word_of(reasons, status); }

Response& Response::set(std::string_view name, std::string value) & {
  const auto same = [&](const Header& field) { return equal_ignoring_case(field.name, name); };
  const auto found = std::find_if(headers.begin(), headers.end(), same);
  if (found != headers.end()) {
    found->value = std::move(value);
  } else {
    headers.push_back({std::string(name), std::move(value)});
  }
  return *this;
}

Response&& Response::set(std::string_view name, std::string value) && { return std::move(set(name, std::move(value))); }

std::optional<std::string> Response::header(std::string_view name) const {
  for (const Header& field : headers)
    if (equal_ignoring_case(field.name, name)) return field.value;
  return std::nullopt;
}

Response respond(Status status, std::string_view content_type, std::string body) {
  return {status, {{"Content-Type", std::string(content_type)}}, std::move(body)};
}

Response download(std::filesystem::path path, std::string_view content_type, std::string_view name,
                  std::shared_ptr<const void> keeper) {
  return {Status::ok,
          {{"Content-Type", std::string(content_type)},
           {"Content-Disposition", "attachment; filename=\"" + inert_name(name) + "\""}},
          FileBody{std::move(path), std::move(keeper)}};
}

}  // namespace traceweir::http
