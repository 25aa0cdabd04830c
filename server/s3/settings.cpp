#include "server/s3/settings.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "server/outbound/address.hpp"

namespace traceweir::s3 {
namespace {

constexpr std::size_t credentials_file_bytes_max = 64 << 10;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/// Letters that need no encoding, so that a key is the same in a URL, in a listing and in a log.
bool is_prefix(std::string_view text) {
  return text.find("//") == std::string_view::npos && !text.starts_with('/') &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c) || c == '/'; });
}

/// Source: AWS, "Bucket naming rules": 3 to 63 of these; others' rules are no wider but for upper case.
bool is_bucket(std::string_view text) {
  return text.size() >= 3 && text.size() <= 63 && text.find("..") == std::string_view::npos && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), is_plain);
}

tl::unexpected<Error> expected_endpoint() {
  return fail(ErrorCode::bad_config,
              "https://HOST, https://HOST:PORT or the same with http:// was expected, without user, path or query");
}

bool is_default_port(const Endpoint& endpoint) {
  return endpoint.port == (endpoint.scheme == Endpoint::Scheme::https ? "443" : "80");
}

struct Field {
  std::string_view name;
  std::string Credentials::*value;
};
constexpr Field fields[] = {{"aws_access_key_id", &Credentials::key_id},
                            {"aws_secret_access_key", &Credentials::secret},
                            {"aws_session_token", &Credentials::session_token}};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// What stands in the section [default], or before any section.
Credentials read_sections(std::istream& in) {
  Credentials credentials;
  bool is_ours = true;
  for (std::string line; std::getline(in, line);) {
    const std::string_view text = trimmed(line);
    if (text.starts_with('[')) is_ours = text == "[default]";
    const std::size_t equals = text.find('=');
    if (!is_ours || equals == std::string_view::npos) continue;
    for (const Field& field : fields)
      if (trimmed(text.substr(0, equals)) == field.name) credentials.*field.value = trimmed(text.substr(equals + 1));
  }
  return credentials;
}

/// They become parts of headers.
bool is_header_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

Result<Credentials> checked(Credentials credentials, const std::string& where) {
  if (credentials.key_id.empty() || credentials.secret.empty())
    return fail(ErrorCode::bad_config, where + ": an access key id and a secret access key were expected");
  for (const Field& field : fields)
    if (!is_header_text(credentials.*field.value))
      return fail(ErrorCode::bad_config, where + ": " + std::string(field.name) + " has characters that none has");
  return credentials;
}

}  // namespace

Result<Place> place_of(std::string_view text) {
  constexpr std::string_view scheme = "s3://";
  const auto wrong = [] {
    return fail(ErrorCode::bad_config,
                "directory or s3://BUCKET/PREFIX was expected, of letters, digits, '.', '_', '-'");
  };
  if (!text.starts_with(scheme)) return wrong();
  text.remove_prefix(scheme.size());
  while (text.ends_with('/')) text.remove_suffix(1);
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view bucket = text.substr(0, slash);
  const std::string_view prefix = slash == text.size() ? std::string_view() : text.substr(slash + 1);
  if (!is_bucket(bucket) || !is_prefix(prefix)) return wrong();
  return Place{std::string(bucket), std::string(prefix)};
}

std::string Endpoint::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return is_default_port(*this) ? name : name + ":" + port;
}

Result<Endpoint> endpoint_of(std::string_view text) {
  const auto url = boost::urls::parse_uri(text);
  if (!url) return expected_endpoint();
  Endpoint endpoint;
  if (url->scheme_id() == boost::urls::scheme::http)
    endpoint.scheme = Endpoint::Scheme::http;
  else if (url->scheme_id() != boost::urls::scheme::https)
    return expected_endpoint();
  endpoint.host = url->host_address();
  const bool has_path = !url->encoded_path().empty() && url->encoded_path() != "/";
  if (endpoint.host.empty() || url->has_userinfo() || url->has_fragment() || url->has_query() || has_path)
    return expected_endpoint();
  endpoint.port = url->has_port() && !url->port().empty()      ? std::string(url->port())
                  : endpoint.scheme == Endpoint::Scheme::https ? "443"
                                                               : "80";
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(endpoint.host, error);
  if (!error && !outbound::may_be_called(address))
    return fail(ErrorCode::bad_config, endpoint.host +
                                           " is an address that is not called (link-local, where machines "
                                           "are told their secrets, metadata or multicast)");
  return endpoint;
}

Endpoint endpoint_of_region(std::string_view region) {
  return {Endpoint::Scheme::https, "s3." + std::string(region) + ".amazonaws.com", "443"};
}

Result<Credentials> CredentialSource::read() const {
  if (file.empty()) return checked(environment, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, or s3_credentials_file");
  std::ifstream in(file, std::ios::binary);
  std::string text(credentials_file_bytes_max, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad())
    return fail(ErrorCode::bad_config, "s3_credentials_file = '" + file + "': cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  std::istringstream lines(text);
  return checked(read_sections(lines), "s3_credentials_file = '" + file + "'");
}

}  // namespace traceweir::s3
