// For: from a verb and a path to a handler, by a table that the caller owns (api/routes).
// Not for: any route of its own.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/request.hpp"
#include "server/http/response.hpp"

namespace traceweir::http {

/// What answers a request. May suspend; may throw (the session answers 500 and goes on).
using Handler = std::function<boost::asio::awaitable<Response>(Request&)>;

/// One row of a constexpr table of routes. Services is the caller's; this room never looks into it.
/// Shape: pattern is `/api/v1/projects/{project}/runs/{run}`: fixed segments, and names in braces for one segment each.
template <typename Services>
struct Route {
  Verb verb;
  std::string_view pattern;
  boost::asio::awaitable<Response> (*handler)(Request&, Services&);
};

/// Picks the handler. A path that no pattern has: 404 not_found. A known path with another verb: 405 with Allow. HEAD
/// is answered by GET's handler (the session leaves the body out), OPTIONS by Allow. Where two patterns fit, fixed
/// segments win over names, from the left. Cost:   rows × segments per request. Thread: immutable once made; share
/// freely.
class Router {
 public:
  Router() = default;

  /// `services` must outlive the router.
  template <typename Services>
  Router(std::span<const Route<Services>> rows, Services& services) {
    add_all(rows, services);
  }

  /// One more table; the same holds for it.
  template <typename Services>
  void add_all(std::span<const Route<Services>> rows, Services& services) {
    for (const Route<Services>& row : rows)
      add(row.verb, row.pattern,
          [handler = row.handler, &services](Request& request) { return handler(request, services); });
  }

  /// A pattern that is not well formed, or a second row with the same verb and pattern, is our bug.
  void add(Verb verb, std::string_view pattern, Handler handler);

  /// Fills in request.params and hands the request on.
  boost::asio::awaitable<Response> operator()(Request& request) const;

 private:
  struct Segment {
    std::string text;  ///< fixed text, or the name
    bool is_name;
  };
  struct Row {
    Verb verb;
    std::string pattern;
    std::vector<Segment> segments;
    Handler handler;
  };

  static bool fits(const Row& row, const std::vector<std::string>& path);
  static bool more_exact(const Row& a, const Row& b);
  [[nodiscard]] const Row* find(Verb verb, const std::vector<std::string>& path) const;
  [[nodiscard]] std::string allow(const std::vector<std::string>& path) const;

  std::vector<Row> rows_;
};

}  // namespace traceweir::http
