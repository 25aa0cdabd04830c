#include "cli/proxy.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/url/parse.hpp>
#include <charconv>
#include <vector>

#include "analyzer/core/ascii.hpp"

namespace traceweir::cli {
namespace {

std::string base64(const std::string& text) {
  std::vector<unsigned char> out(4 * (text.size() / 3 + 1) + 1);
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const int count = EVP_EncodeBlock(out.data(), bytes, static_cast<int>(text.size()));
  return {out.begin(), out.begin() + count};
}

/// The first of the variables that is set; curl, too, takes the small letters first.
struct Variable {
  std::string name, value;
};
Variable first_of(const Variables& variables, std::array<const char*, 2> names) {
  for (const char* const name : names)
    if (std::string value = variables(name); !value.empty()) return {name, std::move(value)};
  return {};
}

bool is_in_range(std::string_view range, std::string_view host) {
  const std::size_t slash = range.find('/');
  if (slash == std::string_view::npos) return false;
  boost::system::error_code error, no_address;
  const auto network = boost::asio::ip::make_address_v4(std::string(range.substr(0, slash)), error);
  const auto address = boost::asio::ip::make_address_v4(std::string(host), no_address);
  unsigned bits = 33;
  std::from_chars(range.data() + slash + 1, range.data() + range.size(), bits);
  if (error || no_address || bits > 32) return false;
  return bits == 0 || (network.to_uint() ^ address.to_uint()) >> (32 - bits) == 0;
}

bool is_named_by(std::string_view item, std::string_view host, std::string_view port) {
  if (item == "*") return true;
  if (const std::size_t colon = item.rfind(':'); colon != std::string_view::npos && item.find(':') == colon) {
    if (item.substr(colon + 1) != port) return false;
    item = item.substr(0, colon);
  }
  if (item.starts_with('*')) item.remove_prefix(1);
  while (item.starts_with('.')) item.remove_prefix(1);
  if (item.empty()) return false;
  if (item == host || is_in_range(item, host)) return true;
  return host.size() > item.size() && host.ends_with(item) && host[host.size() - item.size() - 1] == '.';
}

}  // namespace

bool is_named(std::string_view list, std::string_view host, std::string_view port) {
  const std::string items = lower_case(list), name = lower_case(host);
  for (std::size_t begin = 0; begin < items.size();) {
    const std::size_t end = std::min(items.find_first_of(", \t", begin), items.size());
    if (end > begin && is_named_by(std::string_view(items).substr(begin, end - begin), name, port)) return true;
    begin = end + 1;
  }
  return false;
}

Result<std::optional<Proxy>> https_proxy(const std::string& host, const std::string& port, const Variables& variables) {
  const Variable proxy = first_of(variables, {"https_proxy", "HTTPS_PROXY"});
  if (proxy.value.empty() || is_named(first_of(variables, {"no_proxy", "NO_PROXY"}).value, host, port))
    return std::optional<Proxy>{};
  const std::string url = proxy.value.find("://") == std::string::npos ? "http://" + proxy.value : proxy.value;
  const auto parsed = boost::urls::parse_uri(boost::core::string_view(url.data(), url.size()));
  if (!parsed || parsed->scheme_id() != boost::urls::scheme::http || parsed->encoded_host_address().empty())
    return fail(ErrorCode::usage, proxy.name + ": expected http://[USER:PASSWORD@]HOST:PORT");
  Proxy found{parsed->host_address(), parsed->has_port() ? std::string(parsed->port()) : "80", ""};
  if (parsed->has_userinfo()) found.credentials = "Basic " + base64(parsed->user() + ":" + parsed->password());
  return std::optional(std::move(found));
}

}  // namespace traceweir::cli
