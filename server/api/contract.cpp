#include "server/api/contract.hpp"

#include <string>

#include "server/api/handlers.hpp"

namespace traceweir::api {

/// GET /openapi.json
/// 200: the contract
boost::asio::awaitable<http::Response> get_contract(http::Request&, Services&) {
  co_return http::respond(http::Status::ok, json_type, std::string(openapi_json));
}

}  // namespace traceweir::api
