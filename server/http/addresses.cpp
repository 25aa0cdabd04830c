#include "server/http/addresses.hpp"

#include <algorithm>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>

#include "server/http/ascii.hpp"

namespace traceweir::http {
namespace {

namespace ip = boost::asio::ip;

ip::address plain(const ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, address.to_v6());
  return address;
}

std::vector<unsigned char> bytes_of(const ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return {bytes.begin(), bytes.end()};
  }
  const auto bytes = address.to_v6().to_bytes();
  return {bytes.begin(), bytes.end()};
}

bool same_bits(const ip::address& a, const ip::address& b, unsigned bits) {
  const auto left = bytes_of(a);
  const auto right = bytes_of(b);
  if (left.size() != right.size()) return false;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if ((left[bit / 8] & mask) != (right[bit / 8] & mask)) return false;
  }
  return true;
}

std::optional<ip::address> address_in(std::string_view text) {
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string(text), error);
  if (error || text.find('%') != std::string_view::npos) return std::nullopt;
  return plain(address);
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`: proxies write all of them.
std::optional<ip::address> forwarded_address(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    return end == std::string_view::npos ? std::nullopt : address_in(text.substr(1, end - 1));
  }
  const std::size_t colon = text.find(':');
  const bool has_port = colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos;
  return address_in(has_port ? text.substr(0, colon) : text);
}

/// The items of all fields of that name, as if they were one.
std::vector<std::string_view> forwarded_items(std::span<const Header> headers) {
  std::vector<std::string_view> items;
  for (const Header& field : headers)
    if (field.name == "x-forwarded-for")
      for (const std::string_view item : split(field.value, ',')) items.push_back(trimmed(item));
  return items;
}

}  // namespace

Result<Networks> Networks::parse(std::string_view list) {
  Networks networks;
  for (const std::string_view part : split(list, ',')) {
    const std::string_view item = trimmed(part);
    if (item.empty()) continue;
    const std::size_t slash = std::min(item.find('/'), item.size());
    const auto first = address_in(item.substr(0, slash));
    unsigned bits = first && first->is_v4() ? 32 : 128;
    const unsigned bits_max = bits;
    if (slash < item.size()) {
      const std::string_view digits = item.substr(slash + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
      if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) bits = bits_max + 1;
    }
    if (!first || bits > bits_max)
      return fail(ErrorCode::bad_config,
                  "addresses or networks such as 10.0.0.7 or 192.168.0.0/16 were expected, separated by commas");
    networks.networks_.push_back({*first, bits});
  }
  return networks;
}

bool Networks::contain(const ip::address& address) const {
  const ip::address wanted = plain(address);
  for (const Network& network : networks_)
    if (same_bits(network.first, wanted, network.bits)) return true;
  return false;
}

std::string client_key(const ip::address& address) {
  const ip::address client = plain(address);
  if (client.is_v4()) return client.to_string();
  auto bytes = client.to_v6().to_bytes();
  std::fill(std::next(bytes.begin(), 8), bytes.end(), static_cast<unsigned char>(0));
  return ip::address_v6(bytes).to_string() + "/64";
}

ip::address client_of(const ip::address& peer, std::span<const Header> headers, const Networks& trusted_proxies) {
  ip::address client = plain(peer);
  const std::vector<std::string_view> items = forwarded_items(headers);
  for (auto item = items.rbegin(); item != items.rend() && trusted_proxies.contain(client); ++item) {
    const auto before = forwarded_address(*item);
    if (!before) break;  // a proxy that hides its clients is the client
    client = *before;
  }
  return client;
}

}  // namespace traceweir::http
