#include "server/outbound/address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <iterator>
#include <stdexcept>

namespace traceweir::outbound {
namespace {

namespace ip = boost::asio::ip;

/// Metadata services whose address is not of the link: AWS over IPv6, Alibaba, Oracle.
constexpr const char* metadata_services[] = {"fd00:ec2::254", "100.100.100.200", "192.0.0.192"};

tl::unexpected<Error> expected_url() {
  return fail(ErrorCode::bad_config, "http://HOST/PATH or https://HOST/PATH was expected, without user and password");
}

std::string port_of(const boost::urls::url_view& url, Address::Scheme scheme) {
  if (url.has_port() && !url.port().empty()) return std::string(url.port());
  return scheme == Address::Scheme::https ? "443" : "80";
}

/// The IPv4 address that an IPv6 one stands for: mapped, or of NAT64 (64:ff9b::/96).
ip::address unwrapped(const ip::address& address) {
  if (!address.is_v6()) return address;
  const ip::address_v6 wide = address.to_v6();
  if (wide.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, wide);
  const auto bytes = wide.to_bytes();
  const ip::address_v6::bytes_type nat64 = {0x00, 0x64, 0xff, 0x9b};
  if (!std::equal(bytes.begin(), std::next(bytes.begin(), 12), nat64.begin())) return address;
  return ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]});
}

bool is_link_local(const ip::address& address) {
  if (address.is_v6()) return address.to_v6().is_link_local();
  const auto bytes = address.to_v4().to_bytes();
  return bytes[0] == 169 && bytes[1] == 254;
}

}  // namespace

std::string Address::shown() const {
  const bool encrypted = scheme == Scheme::https;
  const std::string place = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const bool usual = port == (encrypted ? "443" : "80");
  return fmt::format("{}://{}{}/***", encrypted ? "https" : "http", place, usual ? "" : ":" + port);
}

Result<Address> address_of(std::string_view text) {
  const auto url = boost::urls::parse_uri(text);
  if (!url) return expected_url();
  Address address;
  if (url->scheme_id() == boost::urls::scheme::https)
    address.scheme = Address::Scheme::https;
  else if (url->scheme_id() != boost::urls::scheme::http)
    return expected_url();
  address.host = url->host_address();
  if (address.host.empty() || url->has_userinfo() || url->has_fragment()) return expected_url();
  address.port = port_of(*url, address.scheme);
  address.target = std::string(url->encoded_target());
  if (address.target.empty() || address.target.front() != '/') address.target.insert(0, "/");
  return address;
}

bool may_be_called(const ip::address& address) {
  const ip::address called = unwrapped(address);
  const auto is = [&](const char* text) { return called == ip::make_address(text); };
  if (called.is_unspecified() || called.is_multicast() || is_link_local(called)) return false;
  if (called.is_v4() && called.to_v4().to_bytes()[0] == 0) return false;  // "this network": it reaches this host
  return !is("255.255.255.255") && std::none_of(std::begin(metadata_services), std::end(metadata_services), is);
}

std::vector<ip::tcp::endpoint> callable(const ip::tcp::resolver::results_type& found) {
  std::vector<ip::tcp::endpoint> endpoints;
  for (const auto& entry : found) {
    if (!may_be_called(entry.endpoint().address()))
      throw std::runtime_error("the name stands for " + entry.endpoint().address().to_string() +
                               ", an address that is not called (link-local, metadata or multicast)");
    endpoints.push_back(entry.endpoint());
  }
  return endpoints;
}

bool is_loopback(std::string_view host) {
  boost::system::error_code none;
  const ip::address address = ip::make_address(std::string(host), none);
  return none ? host == "localhost" : unwrapped(address).is_loopback();
}

}  // namespace traceweir::outbound
