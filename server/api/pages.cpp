#include "server/api/pages.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "server/http/ascii.hpp"
#include "server/http/problem.hpp"
#include "server/web/files.hpp"

namespace traceweir::api {
namespace {

using http::Verb;

/// A popup of another origin can only be spoken to when the page allows popups: Perfetto's viewer is handed a trace so.
/// Source: docs/decisions/036.
constexpr std::string_view opener_policy = "same-origin-allow-popups";
/// Pages are asked for again each time, and answered by 304 where nothing changed; the names of assets carry their
/// hash.
constexpr std::string_view revalidate = "no-cache";
constexpr std::string_view for_ever = "public, max-age=31536000, immutable";

/// Whether the client takes gzip: the coding is named, and not with a weight of 0.
bool takes_gzip(const http::Request& request) {
  const std::string accepted = request.header("accept-encoding").value_or("");
  for (const std::string_view item : http::split(accepted, ',')) {
    const std::string_view coding = http::trimmed(item.substr(0, item.find(';')));
    if (!http::equal_ignoring_case(coding, "gzip")) continue;
    const std::size_t weight = item.find("q=");
    return weight == std::string_view::npos || item.find_first_of("123456789", weight) != std::string_view::npos;
  }
  return false;
}

bool knows(const http::Request& request, std::string_view tag) {
  const std::string known = request.header("if-none-match").value_or("");
  return known == "*" || known.find(tag) != std::string::npos;
}

http::Response answer(const http::Request& request, const web::File& file, std::string_view caching) {
  const bool packed = takes_gzip(request);
  const std::string tag = '"' + std::string(file.hash) + (packed ? "-gzip\"" : "\"");
  http::Response response;
  if (knows(request, tag))
    response.status = http::Status::not_modified;
  else
    response = http::respond(http::Status::ok, file.type, std::string(packed ? file.gzip : file.plain));
  response.set("ETag", tag).set("Cache-Control", std::string(caching)).set("Vary", "Accept-Encoding");
  response.set("Cross-Origin-Opener-Policy", std::string(opener_policy));
  if (packed && response.status == http::Status::ok) response.set("Content-Encoding", "gzip");
  return response;
}

/// GET / and every path that a page of the dashboard has
/// 200 the one page, which finds out from its address what to show
boost::asio::awaitable<http::Response> get_page(http::Request& request, Services&) {
  const web::File* page = web::find("index.html");
  TRACEWEIR_ASSERT(page != nullptr);
  co_return answer(request, *page, revalidate);
}

/// GET /assets/{file}
/// 200 a part of the page | 404
boost::asio::awaitable<http::Response> get_asset(http::Request& request, Services&) {
  const web::File* file = web::find("assets/" + request.param("file"));
  if (file == nullptr)
    co_return http::problem({ErrorCode::not_found, "there is no such asset; is the page of an older version open?"});
  co_return answer(request, *file, for_ever);
}

constexpr http::Route<Services> page_table[] = {
    {Verb::get, "/", &get_page},
    {Verb::get, "/analyze", &get_page},
    {Verb::get, "/projects", &get_page},
    {Verb::get, "/projects/{project}", &get_page},
    {Verb::get, "/projects/{project}/runs", &get_page},
    {Verb::get, "/projects/{project}/runs/{run}", &get_page},
    {Verb::get, "/projects/{project}/compare", &get_page},
    {Verb::get, "/assets/{file}", &get_asset},
};

}  // namespace

std::span<const http::Route<Services>> page_routes() { return page_table; }

}  // namespace traceweir::api
