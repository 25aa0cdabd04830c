#include "server/app/endpoint.hpp"

#include <fmt/format.h>

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <charconv>

namespace traceweir::app {
namespace {

namespace ip = boost::asio::ip;

/// The address as the listener wants it; empty: it is none. Six groups and a port look like seven groups, so an IPv6
/// address stands in brackets.
std::string numeric_address(std::string_view text) {
  if (text.empty()) return "0.0.0.0";
  if (text == "localhost") return "127.0.0.1";
  boost::system::error_code error;
  const bool in_brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
  std::string address(in_brackets ? text.substr(1, text.size() - 2) : text);
  if (in_brackets)
    ip::make_address_v6(address, error);
  else
    ip::make_address_v4(address, error);
  return error ? std::string() : address;
}

}  // namespace

Result<Endpoint> endpoint_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  Endpoint endpoint{numeric_address(text.substr(0, colon)), 0};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), endpoint.port);
  const bool is_port = !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
  if (is_port && !endpoint.address.empty()) return endpoint;
  return fail(ErrorCode::bad_config,
              "a numeric address and a port were expected, such as 127.0.0.1:8080, or [::1]:8080 for IPv6; of names "
              "localhost alone is known");
}

std::string to_text(const Endpoint& endpoint) {
  const bool is_v6 = endpoint.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", endpoint.address, is_v6 ? "]" : "", endpoint.port);
}

}  // namespace traceweir::app
