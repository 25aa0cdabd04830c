// X-Forwarded-For and lists of networks. Shape: a list of networks, and behind a line break fields, one per line.
// Nobody is believed whom the list does not name.
#include <boost/asio/ip/address.hpp>
#include <string>
#include <vector>

#include "analyzer/core/assert.hpp"
#include "server/http/addresses.hpp"
#include "server/http/ascii.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto trusted = http::Networks::parse(text.substr(0, end));
  if (!trusted) return fuzz::check_refusal(trusted.error()), 0;
  std::vector<http::Header> fields;
  for (const std::string_view line : http::split(text.substr(end), '\n'))
    fields.push_back({"x-forwarded-for", std::string(line)});
  for (const char* from : {"10.0.0.7", "::ffff:10.0.0.7", "2001:db8::7"}) {
    const auto peer = boost::asio::ip::make_address(from);
    const auto client = http::client_of(peer, fields, *trusted);
    TRACEWEIR_ASSERT(trusted->contain(peer) || http::client_key(client) == http::client_key(peer));
    TRACEWEIR_ASSERT(http::client_of(client, {}, *trusted) == client);
  }
  return 0;
}
