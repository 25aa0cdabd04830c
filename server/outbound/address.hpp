// For: where the service may call others: URLs as operators write them, and the addresses that nobody may make us call.
// Not for: calling (caller.hpp).
#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::outbound {

/// One host, by http:// or https://, and what is asked for there.
struct Address {
  enum class Scheme { http, https } scheme = Scheme::http;
  std::string host, port;
  std::string target;  ///< path and query

  /// For logs and people: without the path, which may be a secret (`https://hooks.example.com/***`).
  [[nodiscard]] std::string shown() const;
};
/// Errors: bad_config, saying what was expected; user names, passwords and fragments are refused. The text itself is in
///         no message: it may be a secret.
Result<Address> address_of(std::string_view url);

/// Whether an address may be called: none of this link (where clouds keep the credentials of their machines), no
/// multicast, not the unspecified one, none of the metadata services that live elsewhere; also not inside IPv6.
/// Private networks and this host are the operator's choice.
bool may_be_called(const boost::asio::ip::address& address);

/// What a name stands for, where it may be called. One address that may not refuses all: a name that sometimes points
/// to where it must not is nobody's to call. Errors: throws std::runtime_error with the address.
std::vector<boost::asio::ip::tcp::endpoint> callable(const boost::asio::ip::tcp::resolver::results_type& found);

/// Whether it is this host. Nobody listens in between.
bool is_loopback(std::string_view host);

}  // namespace traceweir::outbound
