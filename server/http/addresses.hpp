// For: addresses of clients: sets of them, what counts as one client, and who stands behind a proxy.
// Not for: counting (rates.hpp, visitors.hpp).
#pragma once

#include <boost/asio/ip/address.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/http/request.hpp"

namespace traceweir::http {

/// Addresses and networks, as operators write them: `10.0.0.7, 192.168.0.0/16, fd00::/8`.
class Networks {
 public:
  Networks() = default;

  /// Errors: bad_config, naming the part that is no address and no network.
  static Result<Networks> parse(std::string_view list);

  [[nodiscard]] bool contain(const boost::asio::ip::address& address) const;

 private:
  struct Network {
    boost::asio::ip::address first;
    unsigned bits;  ///< that decide
  };
  std::vector<Network> networks_;
};

/// What one client is when clients are counted: an IPv4 address, or the 64 bits of an IPv6 one that a host cannot
/// choose. An IPv4 address inside an IPv6 one is itself.
std::string client_key(const boost::asio::ip::address& address);

/// Who asks: the peer, or where that is a trusted proxy, the last address of X-Forwarded-For that is none. What stands
/// left of it was written by strangers and is not looked at.
boost::asio::ip::address client_of(const boost::asio::ip::address& peer, std::span<const Header> headers,
                                   const Networks& trusted_proxies);

}  // namespace traceweir::http
